/* SPDX-License-Identifier: MIT */
/*
 * A program with a clock of its own, in the place of libc's, which is a day ahead of the kernel's:
 * the library's clock is the same, and waits with a deadline end, not before their time.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/cmocka_all.h"

#define AHEAD_S  86400
#define NS_PER_S INT64_C(1000000000)
#define WAIT_NS  20000000
#define PATIENCE 60

int clock_gettime(clockid_t clock, struct timespec *now)
{
	long r = syscall(SYS_clock_gettime, clock, now);

	if (r == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC))
		now->tv_sec += AHEAD_S;
	return (int)r;
}

static int64_t kernels_ns(void)
{
	struct timespec now;

	CHECK_EQ(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now), 0);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void test_it_is_the_programs_clock(void **state)
{
	(void)state;
	assert_true(ipcwait_now_ns() - kernels_ns() > (AHEAD_S - 1) * NS_PER_S);
}

static void test_a_wait_expires(void **state)
{
	struct ipcwait_sem sem = IPCWAIT_SEM_INIT(0);
	int64_t began = kernels_ns();

	(void)state;
	check_watchdog(PATIENCE);
	assert_int_equal(ipcwait_sem_wait_until(&sem, ipcwait_deadline_in_ns(WAIT_NS)),
			 -ETIMEDOUT);
	assert_true(kernels_ns() - began >= WAIT_NS);
	check_watchdog(0);
}

static void test_a_wait_for_several_expires(void **state)
{
	struct ipcwait_sem sem[2] = { IPCWAIT_SEM_INIT(0), IPCWAIT_SEM_INIT(0) };
	struct ipcwait_waitable set[2];
	int64_t began = kernels_ns();

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		set[i] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM,
						    .object = &sem[i] };
	check_watchdog(PATIENCE);
	assert_int_equal(ipcwait_wait_any(set, 2, ipcwait_deadline_in_ns(WAIT_NS), NULL),
			 -ETIMEDOUT);
	assert_true(kernels_ns() - began >= WAIT_NS);
	check_watchdog(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_the_programs_clock),
		cmocka_unit_test(test_a_wait_expires),
		cmocka_unit_test(test_a_wait_for_several_expires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
