/* SPDX-License-Identifier: MIT */
/* <ipcwait/cond.h> in one thread: arguments, results, deadlines, mutexes. */
#include <errno.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/cond_word.h"

#define LATER ipcwait_deadline_in_ns(INT64_C(1000000))

/* Every call of every test leaves errno alone. */
static int set_errno(void **state)
{
	(void)state;
	errno = 4711;
	return 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

static void assert_usable(struct ipcwait_cond *c)
{
	struct ipcwait_mutex m = IPCWAIT_MUTEX_INIT;

	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	assert_int_equal(ipcwait_cond_signal(c), 0);
	assert_int_equal(ipcwait_cond_broadcast(c), 0);
	/* Neither is remembered. */
	assert_int_equal(ipcwait_cond_wait_until(c, &m, LATER), -ETIMEDOUT);
	assert_int_equal(ipcwait_mutex_trylock(&m), -EBUSY);
	assert_int_equal(cond_tickets(c), 0);
	assert_int_equal(cond_inside(c), 0);
}

static void assert_finished(struct ipcwait_cond *c)
{
	struct ipcwait_mutex m = IPCWAIT_MUTEX_INIT;

	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	assert_int_equal(ipcwait_cond_wait(c, &m), -EINVAL);
	assert_int_equal(ipcwait_cond_wait_until(c, &m, LATER), -EINVAL);
	assert_int_equal(ipcwait_cond_wait_until(c, &m, 0), -EINVAL);
	assert_int_equal(ipcwait_cond_signal(c), -EINVAL);
	assert_int_equal(ipcwait_cond_broadcast(c), -EINVAL);
	assert_int_equal(ipcwait_cond_fini(c), -EINVAL);
	/* The mutex is still the caller's. */
	assert_int_equal(ipcwait_mutex_unlock(&m), 0);
}

static void test_init(void **state)
{
	struct ipcwait_cond c, zero = IPCWAIT_COND_INIT;

	(void)state;
	memset(&c, 0, sizeof(c));
	assert_memory_equal(&c, &zero, sizeof(c));
	assert_usable(&c);
	memset(&c, 0xa5, sizeof(c));
	assert_int_equal(ipcwait_cond_init(&c, 0), 0);
	assert_memory_equal(&c, &zero, sizeof(c));
	assert_usable(&c);
	assert_int_equal(ipcwait_cond_init(&c, IPCWAIT_PRIVATE), 0);
	assert_int_equal(c.flags, IPCWAIT_PRIVATE);
	assert_usable(&c);
	assert_usable(&zero);
}

static void test_init_errors(void **state)
{
	struct ipcwait_cond c, before;

	(void)state;
	memset(&c, 0x5a, sizeof(c));
	before = c;
	assert_int_equal(ipcwait_cond_init(NULL, 0), -EINVAL);
	for (unsigned bit = 1; bit; bit <<= 1) {
		if (bit != IPCWAIT_PRIVATE)
			assert_int_equal(ipcwait_cond_init(&c, bit), -EINVAL);
	}
	assert_int_equal(ipcwait_cond_init(&c, UINT32_MAX), -EINVAL);
	assert_int_equal(ipcwait_cond_init((struct ipcwait_cond *)((uintptr_t)&c + 4), 0),
			 -EINVAL);
	assert_memory_equal(&c, &before, sizeof(c));
}

static void test_null(void **state)
{
	struct ipcwait_mutex m = IPCWAIT_MUTEX_INIT;
	struct ipcwait_cond c = IPCWAIT_COND_INIT;

	(void)state;
	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	assert_int_equal(ipcwait_cond_wait(NULL, &m), -EINVAL);
	assert_int_equal(ipcwait_cond_wait(&c, NULL), -EINVAL);
	assert_int_equal(ipcwait_cond_wait_until(NULL, &m, LATER), -EINVAL);
	assert_int_equal(ipcwait_cond_wait_until(&c, NULL, 0), -EINVAL);
	assert_int_equal(ipcwait_cond_signal(NULL), -EINVAL);
	assert_int_equal(ipcwait_cond_broadcast(NULL), -EINVAL);
	assert_int_equal(ipcwait_cond_fini(NULL), -EINVAL);
	assert_int_equal(cond_arrivals(&c), 0);
	assert_int_equal(ipcwait_mutex_unlock(&m), 0);
}

/* No call looks into a misaligned object. */
static void test_misaligned(void **state)
{
	_Alignas(64) char bytes[192] = { 0 };
	struct ipcwait_cond *c = (struct ipcwait_cond *)(uintptr_t)(bytes + 4);
	struct ipcwait_mutex m = IPCWAIT_MUTEX_INIT,
			     *bad = (struct ipcwait_mutex *)(uintptr_t)(bytes + 4);
	struct ipcwait_cond good = IPCWAIT_COND_INIT;

	(void)state;
	assert_finished(c);
	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	assert_int_equal(ipcwait_cond_wait(&good, bad), -EINVAL);
	assert_int_equal(cond_arrivals(&good), 0);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
}

static void test_fini(void **state)
{
	struct ipcwait_cond c = IPCWAIT_COND_INIT;

	(void)state;
	assert_int_equal(ipcwait_cond_fini(&c), 0);
	assert_finished(&c);
	assert_int_equal(ipcwait_cond_init(&c, 0), 0);
	assert_usable(&c);
	assert_int_equal(ipcwait_cond_fini(&c), 0);
	assert_finished(&c);
}

static void test_finished_mutex(void **state)
{
	struct ipcwait_cond c = IPCWAIT_COND_INIT;
	struct ipcwait_mutex m = IPCWAIT_MUTEX_INIT;

	(void)state;
	assert_int_equal(ipcwait_mutex_fini(&m), 0);
	assert_int_equal(ipcwait_cond_wait(&c, &m), -EINVAL);
	assert_int_equal(cond_arrivals(&c), 0);
}

static void test_mutex_that_is_not_owned(void **state)
{
	static const unsigned kinds[] = { 0, IPCWAIT_PRIVATE, IPCWAIT_ERRORCHECK,
					  IPCWAIT_RECURSIVE };

	(void)state;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct ipcwait_cond c = IPCWAIT_COND_INIT;
		struct ipcwait_mutex m;

		assert_int_equal(ipcwait_mutex_init(&m, kinds[i]), 0);
		assert_int_equal(ipcwait_cond_wait(&c, &m), -EPERM);
		assert_int_equal(ipcwait_cond_wait_until(&c, &m, LATER), -EPERM);
		assert_int_equal(cond_tickets(&c), 0);
		assert_int_equal(ipcwait_mutex_lock(&m), 0);
		assert_int_equal(ipcwait_cond_wait_until(&c, &m, LATER), -ETIMEDOUT);
		assert_int_equal(ipcwait_mutex_unlock(&m), 0);
		assert_int_equal(ipcwait_cond_fini(&c), 0);
	}
}

static void test_levels_of_a_recursive_mutex(void **state)
{
	struct ipcwait_cond c = IPCWAIT_COND_INIT;
	struct ipcwait_mutex m;

	(void)state;
	assert_int_equal(ipcwait_mutex_init(&m, IPCWAIT_RECURSIVE), 0);
	for (unsigned levels = 1; levels <= IPCWAIT_RECURSION_MAX;
	     levels = levels * 4 < IPCWAIT_RECURSION_MAX || levels == IPCWAIT_RECURSION_MAX
			      ? levels * 4
			      : IPCWAIT_RECURSION_MAX) {
		for (unsigned i = 0; i < levels; i++)
			assert_int_equal(ipcwait_mutex_lock(&m), 0);
		assert_int_equal(ipcwait_cond_wait_until(&c, &m, 0), -ETIMEDOUT);
		for (unsigned i = 0; i < levels; i++)
			assert_int_equal(ipcwait_mutex_unlock(&m), 0);
		assert_int_equal(ipcwait_mutex_unlock(&m), -EPERM);
	}
}

static void test_past_deadlines(void **state)
{
	static const int64_t past[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1 };
	struct ipcwait_cond c = IPCWAIT_COND_INIT;
	struct ipcwait_mutex m = IPCWAIT_MUTEX_INIT;

	(void)state;
	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	for (unsigned i = 0; i < sizeof(past) / sizeof(past[0]); i++)
		assert_int_equal(ipcwait_cond_wait_until(&c, &m, past[i]), -ETIMEDOUT);
	assert_int_equal(ipcwait_cond_wait_until(&c, &m, ipcwait_deadline_in_ns(INT64_MIN)),
			 -ETIMEDOUT);
	assert_int_equal(ipcwait_cond_wait_until(&c, &m, ipcwait_now_ns()), -ETIMEDOUT);
	assert_int_equal(cond_inside(&c), 0);
}

static void test_deadline_is_kept(void **state)
{
	struct ipcwait_cond c = IPCWAIT_COND_INIT;
	struct ipcwait_mutex m = IPCWAIT_MUTEX_INIT;

	(void)state;
	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_cond_wait_until(&c, &m, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
	assert_int_equal(ipcwait_cond_fini(&c), 0);
}

static void test_layout(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct ipcwait_cond), 48);
	assert_int_equal(offsetof(struct ipcwait_cond, word), 0);
	assert_int_equal(offsetof(struct ipcwait_cond, window), 16);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_errno, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init),
		TEST(test_init_errors),
		TEST(test_null),
		TEST(test_misaligned),
		TEST(test_fini),
		TEST(test_finished_mutex),
		TEST(test_mutex_that_is_not_owned),
		TEST(test_levels_of_a_recursive_mutex),
		TEST(test_past_deadlines),
		TEST(test_deadline_is_kept),
		TEST(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
