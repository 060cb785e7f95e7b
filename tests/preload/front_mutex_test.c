/* SPDX-License-Identifier: MIT */
/* preload/front_mutex.c over a scripted kernel: what is learned about sections. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "after_unlock.h"
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "front.h"
#include "front_mutex.h"
#include "original.h"
#include "owner.h"
#include "policy/pace.h"
#include "signals.h"

/* Waits that begin a section, for each that is measured. */
#define ONE_IN 16

/* More than it takes to learn what most sections are like. */
#define ENOUGH (ONE_IN * 20)

_Thread_local struct handled iw_handled;
_Thread_local uint64_t iw_owner_known;
struct originals iw_originals;

static pthread_mutex_t mutex;
static int answer; /* of the original, to whom waits */
static unsigned tries;

uint32_t iw_owner_ask(uint32_t generation)
{
	(void)generation;
	return 4711;
}

int64_t iw_clock_real_ns(void)
{
	return fake.now_ns;
}

void iw_find_originals(void)
{
	fail();
}

static int lock_original(pthread_mutex_t *m)
{
	assert_ptr_equal(m, &mutex);
	fake.now_ns += 50000;
	return answer;
}

static int trylock_original(pthread_mutex_t *m)
{
	assert_ptr_equal(m, &mutex);
	tries++;
	return EBUSY;
}

static int unlock_original(pthread_mutex_t *m)
{
	assert_ptr_equal(m, &mutex);
	fake.now_ns += 5000; /* it wakes others */
	return 0;
}

static int begin(void **state)
{
	(void)state;
	probe_world(IPCWAIT_INHERIT, 2);
	fake.step_ns = 20;
	memset(&iw_after_unlock, 0, sizeof(iw_after_unlock));
	iw_place_set_pace(iw_place_take(&mutex), 0);
	iw_originals = (struct originals){ .mutex_lock = lock_original,
					   .mutex_trylock = trylock_original,
					   .mutex_unlock = unlock_original };
	iw_originals.found.v = 1;
	answer = 0;
	return 0;
}

/* Another thread has it, and the original waits. */
static void wait_for_it(void)
{
	mutex.__data.__lock = 1;
	assert_int_equal(pthread_mutex_lock(&mutex), answer);
}

static void use_for(int64_t ns, unsigned times)
{
	while (times--) {
		wait_for_it();
		fake.now_ns += ns;
		assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	}
}

static uint64_t apart_ns(void)
{
	return iw_pace_apart_ns(iw_place_pace(iw_place_take(&mutex)));
}

static void test_short_sections(void **state)
{
	(void)state;
	use_for(100, ENOUGH);
	assert_true(apart_ns() > 0);
	use_for(5000, ENOUGH);
	assert_int_equal(apart_ns(), 0);
}

static void test_one_in_some_is_measured(void **state)
{
	unsigned measured = 0;

	(void)state;
	for (unsigned i = 0; i < 10 * ONE_IN; i++) {
		wait_for_it();
		measured += iw_after_unlock.lock == &mutex;
		assert_int_equal(pthread_mutex_unlock(&mutex), 0);
		assert_null(iw_after_unlock.lock);
	}
	assert_int_equal(measured, 10);
}

/* Nothing is known of a section that has not begun. */
static void test_a_lock_that_failed(void **state)
{
	uint32_t pace;

	(void)state;
	use_for(100, ONE_IN - 1);
	pace = iw_place_pace(iw_place_take(&mutex));
	answer = EDEADLK;
	wait_for_it();
	assert_int_equal(iw_place_pace(iw_place_take(&mutex)), pace);
	assert_null(iw_after_unlock.lock);
}

/* Its owner lets it go, and another thread is always faster. */
static void let_go(void)
{
	mutex.__data.__lock = 0;
}

static unsigned looks(bool after_wait)
{
	tries = 0;
	fake.on_clock = let_go;
	mutex.__data.__lock = 1;
	if (after_wait)
		assert_int_equal(iw_lock_mutex_after_wait(&mutex, false, 0), 0);
	else
		assert_int_equal(pthread_mutex_lock(&mutex), 0);
	fake.on_clock = NULL;
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	return tries;
}

static void test_looks_are_rare_where_sections_are_short(void **state)
{
	unsigned close, apart;

	(void)state;
	assert_int_equal(
		ipcwait_window_set_preset(&iw_place_take(&mutex)->window, IPCWAIT_SPIN), 0);
	close = looks(false);
	use_for(100, ENOUGH);
	apart = looks(false);
	assert_in_range(apart, 2, close / 4);
	/* After a wait for a condition. */
	assert_in_range(looks(true), close / 2, 2 * close);
	use_for(5000, ENOUGH);
	assert_in_range(looks(false), close / 2, 2 * close);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_short_sections, begin),
		cmocka_unit_test_setup(test_one_in_some_is_measured, begin),
		cmocka_unit_test_setup(test_a_lock_that_failed, begin),
		cmocka_unit_test_setup(test_looks_are_rare_where_sections_are_short, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
