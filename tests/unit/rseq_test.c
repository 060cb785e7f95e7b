/* SPDX-License-Identifier: MIT */
/* lib/os/rseq.h against the real kernel: what disturbs a thread is seen, and nothing else. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/calls.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/rseq.h"
#include "os/usage.h"

#define MS INT64_C(1000000)

/* Runs this program again, as a process without rseq. */
#define REPEATED "IW_TEST_WITHOUT_RSEQ"

static void need_rseq(void)
{
	if (iw_rseq_offset)
		return;
	print_message("libc has not registered this thread for rseq\n");
	skip();
}

static void pin_to(unsigned cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void spin_for(int64_t ns)
{
	int64_t until = iw_clock_ns() + ns;

	while (iw_clock_ns() < until)
		iw_arch_pause();
}

static void test_undisturbed(void **state)
{
	unsigned disturbed = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		iw_rseq_arm();
		spin_for(1000);
		disturbed += iw_rseq_disturbed();
		iw_rseq_disarm();
	}
	assert_in_range(disturbed, 0, 500);
}

/* A foreign sequence is left alone, unless the kernel clears it in this moment. */
static void test_disarm(void **state)
{
	static const uint32_t code[2] = { IW_ARCH_RSEQ_SIGNATURE };
	static const struct iw_rseq_sequence foreign = { .abort = &code[1] };
	unsigned left_alone = 0;

	(void)state;
	need_rseq();
	for (int i = 0; i < 100; i++) {
		iw_rseq_arm();
		iw_rseq_disarm();
		assert_int_equal(*iw_rseq_field(), 0);
		iw_rseq_arm();
		*iw_rseq_field() = (uintptr_t)&foreign;
		assert_true(iw_rseq_disturbed());
		iw_rseq_disarm();
		left_alone += *iw_rseq_field() == (uintptr_t)&foreign;
		*iw_rseq_field() = 0;
	}
	assert_in_range(left_alone, 50, 100);
}

static _Atomic bool hog_ends;

static void *hog(void *cpu)
{
	pin_to(*(unsigned *)cpu);
	while (!hog_ends)
		iw_arch_pause();
	return NULL;
}

/* Of the spins in which the kernel counts a preemption, nearly all are seen to be disturbed. */
static void beside_a_hog(void)
{
	unsigned cpu = iw_cpu_allowed(false).first, counted = 0, seen = 0;
	pthread_t other;

	check_watchdog(30);
	pin_to(cpu);
	CHECK_EQ(pthread_create(&other, NULL, hog, &cpu), 0);
	while (counted < 40) {
		uint64_t before = iw_usage_preemptions();
		bool disturbed;

		iw_rseq_arm();
		spin_for(MS / 4);
		disturbed = iw_rseq_disturbed();
		iw_rseq_disarm();
		if (iw_usage_preemptions() == before)
			continue;
		counted++;
		seen += disturbed;
	}
	hog_ends = true;
	CHECK_EQ(pthread_join(other, NULL), 0);
	print_message("%u of %u preemptions seen\n", seen, counted);
	CHECK(seen * 10 >= counted * 8);
}

static void test_preemption(void **state)
{
	(void)state;
	need_rseq();
	assert_int_equal(check_in_child(beside_a_hog), 0);
}

static void move(void)
{
	unsigned first = iw_cpu_allowed(false).first, second = first + 1;
	cpu_set_t allowed;

	CHECK_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(second, &allowed))
		second++;
	pin_to(first);
	iw_rseq_arm();
	pin_to(second);
	CHECK(iw_rseq_disturbed());
}

static void test_migration(void **state)
{
	(void)state;
	need_rseq();
	if (iw_cpu_allowed(false).count < 2) {
		print_message("one CPU: nowhere to go\n");
		skip();
	}
	assert_int_equal(check_in_child(move), 0);
}

static volatile sig_atomic_t handled;

static void handler(int number)
{
	(void)number;
	handled = 1;
}

/* Spins itself, as a handler that waits would. */
static void nested_handler(int number)
{
	iw_rseq_arm();
	iw_rseq_disarm();
	handler(number);
}

/* While a timer's signal interrupts it. */
static bool disturbed_in_spin(void (*by)(int))
{
	const struct itimerval soon = { .it_value.tv_usec = 2000 };
	bool disturbed;

	CHECK(signal(SIGALRM, by) != SIG_ERR);
	handled = 0;
	CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
	iw_rseq_arm();
	while (!handled)
		iw_arch_pause();
	disturbed = iw_rseq_disturbed();
	iw_rseq_disarm();
	return disturbed;
}

static void signals(void)
{
	CHECK(disturbed_in_spin(handler));
	CHECK(disturbed_in_spin(nested_handler));
}

static void test_signal(void **state)
{
	(void)state;
	need_rseq();
	if (CHECK_DEFERS_SIGNALS) {
		print_message("the sanitizer holds signals back\n");
		skip();
	}
	assert_int_equal(check_in_child(signals), 0);
}

static void *ask_elsewhere(void *arg)
{
	*(bool *)arg = iw_rseq_disturbed();
	return NULL;
}

/* One thread's sentinel is none of another's. */
static void test_own(void **state)
{
	bool disturbed = false;
	pthread_t other;

	(void)state;
	need_rseq();
	iw_rseq_arm();
	assert_int_equal(pthread_create(&other, NULL, ask_elsewhere, &disturbed), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	iw_rseq_disarm();
	assert_true(disturbed);
}

/* The module forbids what it does not need. The CPU it needs, and where it may not ask, none. */
static void check_cpus(void)
{
	cpu_set_t allowed;

	CHECK_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	iw_calls_forbid(IW_CALL_AFFINITY | IW_CALL_RANDOM);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		pin_to(cpu);
		CHECK_EQ(iw_cpu_current(), cpu);
	}
	iw_calls_forbid(IW_CALLS_EXTRA);
	CHECK_EQ(iw_cpu_current(), IW_CPU_UNKNOWN);
	iw_calls_forbid(0);
}

/* In the repeated process: whatever happens, nothing is noticed and nothing is stored. */
static int check_without(void)
{
	CHECK_EQ(iw_rseq_offset, 0);
	check_cpus();
	check_watchdog(30);
	if (!CHECK_DEFERS_SIGNALS)
		CHECK(!disturbed_in_spin(nested_handler));
	iw_rseq_arm();
	CHECK_EQ(sched_yield(), 0);
	CHECK(!iw_rseq_disturbed());
	iw_rseq_disarm();
	return 0;
}

static void repeat_without(void)
{
	char name[] = "rseq_test";
	char *const argv[] = { name, NULL };

	CHECK_EQ(setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1), 0);
	CHECK_EQ(setenv(REPEATED, "1", 1), 0);
	(void)execv("/proc/self/exe", argv);
	CHECK(!"execv() failed");
}

static void test_disabled(void **state)
{
	(void)state;
	assert_int_equal(check_in_child(repeat_without), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_undisturbed), cmocka_unit_test(test_disarm),
		cmocka_unit_test(test_preemption),  cmocka_unit_test(test_migration),
		cmocka_unit_test(test_signal),      cmocka_unit_test(test_own),
		cmocka_unit_test(test_disabled),
	};

	if (getenv(REPEATED))
		return check_without();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
