/* SPDX-License-Identifier: MIT */
/* preload/front_rwlock.c over a scripted kernel: what is learned about sections. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "after_unlock.h"
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "original.h"
#include "owner.h"
#include "sections.h"
#include "signals.h"

/* More waits than it takes to learn what most sections are like: one in sixteen is measured. */
#define ENOUGH 320

_Thread_local struct handled iw_handled;
_Thread_local uint64_t iw_owner_known;
struct originals iw_originals;

static pthread_rwlock_t lock;
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

static int wait_in_original(pthread_rwlock_t *l)
{
	assert_ptr_equal(l, &lock);
	fake.now_ns += 50000;
	return answer;
}

static int timed_original(pthread_rwlock_t *l, const struct timespec *at)
{
	assert_non_null(at);
	return wait_in_original(l);
}

static int try_original(pthread_rwlock_t *l)
{
	assert_ptr_equal(l, &lock);
	tries++;
	return EBUSY;
}

static int unlock_original(pthread_rwlock_t *l)
{
	assert_ptr_equal(l, &lock);
	fake.now_ns += 5000; /* it wakes others */
	return 0;
}

static int begin(void **state)
{
	(void)state;
	probe_world(IPCWAIT_INHERIT, 2);
	fake.step_ns = 20;
	memset(&iw_after_unlock, 0, sizeof(iw_after_unlock));
	iw_place_set_pace(iw_place_take(&lock), 0);
	iw_originals = (struct originals){ .rwlock_rdlock = wait_in_original,
					   .rwlock_wrlock = wait_in_original,
					   .rwlock_tryrdlock = try_original,
					   .rwlock_trywrlock = try_original,
					   .rwlock_timedwrlock = timed_original,
					   .rwlock_unlock = unlock_original };
	iw_originals.found.v = 1;
	answer = 0;
	return 0;
}

static void use_for(int (*how)(pthread_rwlock_t *l), int64_t ns, unsigned times)
{
	while (times--) {
		assert_int_equal(how(&lock), answer);
		fake.now_ns += ns;
		assert_int_equal(pthread_rwlock_unlock(&lock), 0);
		assert_null(iw_after_unlock.lock);
	}
}

static void test_short_sections(void **state)
{
	(void)state;
	use_for(pthread_rwlock_rdlock, 100, ENOUGH);
	assert_true(iw_sections_apart_ns(&lock) > 0);
	use_for(pthread_rwlock_wrlock, 5000, ENOUGH);
	assert_int_equal(iw_sections_apart_ns(&lock), 0);
	use_for(pthread_rwlock_wrlock, 100, ENOUGH);
	assert_true(iw_sections_apart_ns(&lock) > 0);
	use_for(pthread_rwlock_rdlock, 5000, ENOUGH);
	assert_int_equal(iw_sections_apart_ns(&lock), 0);
}

/* Nothing is known of a section that has not begun. */
static void test_a_lock_that_failed(void **state)
{
	(void)state;
	answer = EAGAIN;
	for (unsigned i = 0; i < ENOUGH; i++)
		assert_int_equal(pthread_rwlock_rdlock(&lock), EAGAIN);
	assert_int_equal(iw_place_pace(iw_place_take(&lock)), 0);
}

/* A call with a limit may find it free: nothing is learned of its section. */
static void test_with_a_limit(void **state)
{
	static const struct timespec at = { .tv_sec = 1000000 };

	(void)state;
	for (unsigned i = 0; i < ENOUGH; i++) {
		assert_int_equal(pthread_rwlock_timedwrlock(&lock, &at), 0);
		assert_int_equal(pthread_rwlock_unlock(&lock), 0);
	}
	assert_int_equal(iw_place_pace(iw_place_take(&lock)), 0);
}

static unsigned looks(void)
{
	tries = 0;
	use_for(pthread_rwlock_wrlock, 100, 1);
	return tries;
}

static void test_looks_are_rare_where_sections_are_short(void **state)
{
	struct place *p = iw_place_take(&lock);
	unsigned close;

	(void)state;
	assert_int_equal(ipcwait_window_set_preset(&p->window, IPCWAIT_SPIN), 0);
	close = looks();
	use_for(pthread_rwlock_rdlock, 100, ENOUGH);
	assert_in_range(looks(), 2, close / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_short_sections, begin),
		cmocka_unit_test_setup(test_a_lock_that_failed, begin),
		cmocka_unit_test_setup(test_with_a_limit, begin),
		cmocka_unit_test_setup(test_looks_are_rare_where_sections_are_short, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
