/* SPDX-License-Identifier: MIT */
/* <ipcwait/base.h>: version, clock, deadlines. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

static void test_version(void **state)
{
	(void)state;
	assert_string_equal(ipcwait_version(), IW_TEST_VERSION);
}

static void test_now(void **state)
{
	struct timespec now;
	int64_t before = ipcwait_now_ns();

	(void)state;
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	assert_true(before >= 0);
	assert_true((int64_t)now.tv_sec * 1000000000 + now.tv_nsec >= before);
	assert_true(ipcwait_now_ns() >= (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static void assert_deadline_between(int64_t ns)
{
	int64_t before = ipcwait_now_ns();
	int64_t deadline = ipcwait_deadline_in_ns(ns);

	assert_true(deadline >= before + ns);
	assert_true(deadline <= ipcwait_now_ns() + ns);
}

static void test_deadline(void **state)
{
	(void)state;
	assert_deadline_between(0);
	assert_deadline_between(1);
	assert_deadline_between(1000000000);
	assert_deadline_between(-1);
	assert_deadline_between(-1000000000);
	assert_deadline_between(INT64_MAX / 2);
}

static void test_deadline_saturates(void **state)
{
	(void)state;
	assert_true(ipcwait_deadline_in_ns(INT64_MAX) == IPCWAIT_FOREVER);
	assert_true(ipcwait_deadline_in_ns(INT64_MAX - 1) == IPCWAIT_FOREVER);
	assert_true(ipcwait_deadline_in_ns(INT64_MAX - ipcwait_now_ns()) ==
		    IPCWAIT_FOREVER);
	/* Beyond now by a day less than the rest of time. */
	assert_true(ipcwait_deadline_in_ns(INT64_MAX - ipcwait_now_ns() -
					   INT64_C(86400000000000)) < IPCWAIT_FOREVER);
	assert_true(ipcwait_deadline_in_ns(INT64_MIN) < ipcwait_now_ns());
	assert_true(ipcwait_deadline_in_ns(INT64_MIN + 1) < ipcwait_now_ns());
}

static void test_errno_is_untouched(void **state)
{
	(void)state;
	errno = 4711;
	(void)ipcwait_version();
	(void)ipcwait_now_ns();
	(void)ipcwait_deadline_in_ns(INT64_MAX);
	(void)ipcwait_deadline_in_ns(INT64_MIN);
	assert_int_equal(errno, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_now),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_deadline_saturates),
		cmocka_unit_test(test_errno_is_untouched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
