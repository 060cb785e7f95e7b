/* SPDX-License-Identifier: MIT */
/*
 * lib/engine/spin.c over a fake kernel: what ends a spin before its window does, and what is made
 * of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "engine/wake.h"
#include "os/thread.h"
#include "policy/cost.h"
#include "policy/sites.h"
#include "policy/window.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* The window of a new object. */
#define PRIOR_LEAST (PROBE_BLOCK_NS * 34 / 64 * 7 / 8)
#define PRIOR_MOST  (PROBE_BLOCK_NS * 34 / 64 * 9 / 8)

/* What the last wait has added to the counters. */
static struct ipcwait_kind_stats counted;

/* As probe_world(), and the facts are there. */
static void world(enum ipcwait_preset preset, unsigned cpus)
{
	probe_world(preset, cpus);
	CHECK(iw_facts() != NULL);
}

static enum ipcwait_reason wait_once(void)
{
	return probe_wait(&counted);
}

/* What happens once, at the first reading of the clock after so many looks. */
static unsigned after_looks;
static int64_t jump_ns;
static bool switched_out, there_after;

static void lose_cpu(void)
{
	if (probe.looks < after_looks || !after_looks)
		return;
	after_looks = 0;
	fake.now_ns += jump_ns;
	if (switched_out)
		fake.rseq_field = 0;
	if (there_after)
		probe_appear();
}

static void will_lose_cpu(int64_t ns, bool to_the_kernel, bool then_there)
{
	fake_rseq();
	after_looks = 10;
	jump_ns = ns;
	switched_out = to_the_kernel;
	there_after = then_there;
	fake.on_clock = lose_cpu;
}

/* What the account of the thread was moved on by in the last wait, which slept for 70 us. */
static int64_t charged_ns(void)
{
	return (int64_t)(iw_thread.credit_full_at - (uint64_t)fake.now_ns) + 70 * US;
}

static void window_over(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(counted.spun_wasted_ns >= PRIOR_LEAST &&
	      counted.spun_wasted_ns <= PRIOR_MOST + 500);
	probe_learned_once((int64_t)counted.spun_wasted_ns + 50 * US);
	/* A failed spin of t moves the account's time on by 20 t. */
	CHECK(llabs(charged_ns() - (int64_t)(20 * counted.spun_wasted_ns)) < 2000);
}

static void no_reason(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	probe.there_at = fake.now_ns + 5 * US;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_NONE);
	CHECK(counted.spun_useful_ns > 4500 && counted.spun_useful_ns < 6000);
	CHECK_EQ(counted.spun_wasted_ns, 0);
	CHECK_EQ(iw_thread.credit_full_at, 0);
	probe_learned_once(5 * US);
}

/* A primitive that wants its line left alone is looked at no oftener than it says. */
static void looks_apart(void)
{
	static const int64_t apart[] = { 250, 1000, 5000 };

	for (unsigned i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		world(IPCWAIT_SPIN, 2);
		probe.base.apart_ns = (uint64_t)apart[i];
		CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
		/* One at each end of the spin, one after the sleep. */
		CHECK(probe.looks >= 2 * PROBE_BLOCK_NS / (apart[i] + 100));
		CHECK(probe.looks <= 2 * PROBE_BLOCK_NS / apart[i] + 3);
	}
	/* Such a gap is its own doing: the CPU was not lost. */
	world(IPCWAIT_SPIN, 2);
	fake_rseq();
	probe.base.apart_ns = 15000;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	world(IPCWAIT_SPIN, 2);
	probe.base.apart_ns = 15000;
	will_lose_cpu(500 * US, false, false);
	after_looks = 2;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_STOLEN);
}

/*
 * The thread was off its CPU for 20 us, and the sentinel tells. The time until then is charged,
 * the other is not, but 125 us for the harm that the spin may have done.
 */
static void preempted(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(20 * US, true, false);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_PREEMPTED);
	CHECK_EQ(counted.preempted, 1);
	CHECK_EQ(counted.stolen, 0);
	CHECK(charged_ns() < 20 * 5 * US);
	/* Nor was it spun; the wait lasted that long all the same. */
	CHECK(counted.spun_wasted_ns < 5000);
	probe_learned_once((int64_t)counted.spun_wasted_ns + 20 * US + 50 * US);
}

/* A switch that took no time worth mentioning. */
static void switched_out_and_back(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(5 * US, true, false);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(charged_ns() < 20 * 20 * US);
}

/* An interrupt of 12 us: the sentinel stands. */
static void interrupted(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(12 * US, false, false);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK_EQ(counted.preempted, 0);
	CHECK(charged_ns() < 20 * 20 * US);
}

static void stolen(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(500 * US, false, false);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_STOLEN);
	CHECK_EQ(counted.preempted, 0);
	CHECK_EQ(counted.stolen, 1);
	CHECK(charged_ns() < 20 * 5 * US);
}

/* It was there when the thread ran again, for how long nobody knows. */
static void dirty_length_is_not_learned(void)
{
	const struct iw_site semaphores = { 0, IPCWAIT_KIND_SEM };

	for (int kernel = 0; kernel < 2; kernel++) {
		world(IPCWAIT_ADAPTIVE, 2);
		will_lose_cpu(kernel ? 20 * US : 500 * US, kernel, true);
		CHECK_EQ(wait_once(), IPCWAIT_REASON_NONE);
		CHECK_EQ(counted.spun, 1);
		CHECK_EQ(probe.window.bins.v, 0);
		CHECK_EQ(iw_sites_before(&iw_sites, semaphores), 0);
		/* Nothing is left in the field when nobody spins. */
		CHECK_EQ(fake.rseq_field, 0);
	}
	/* So is one after an interrupt. */
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(12 * US, false, true);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_NONE);
	CHECK(probe.window.bins.v != 0);
}

static void lose_cpu_soon(void)
{
	will_lose_cpu(500 * US, false, true);
	after_looks += probe.looks;
}

/* The same in a spin after a sleep that was in vain. */
static void dirty_length_after_a_sleep(void)
{
	static const struct fake_step script[] = { { .sleep_ns = 50 * US,
						     .meanwhile = lose_cpu_soon } };

	world(IPCWAIT_ADAPTIVE, 2);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 1);
	CHECK_EQ(probe.window.bins.v, 0);
}

/*
 * The deadline ends the spin, and with it the wait: no timer of the kernel is set for what is past.
 * It says nothing about how long waits are.
 */
static void deadlines_end_the_spin(enum ipcwait_preset preset)
{
	struct ipcwait_stats before;

	world(preset, 2);
	/* Also one that passes after the first look at the clock, which takes a step. */
	for (int64_t ns = fake.step_ns + 1; ns <= 4800; ns += 9) {
		probe_forget();
		CHECK_EQ(ipcwait_window_set_preset(&probe.window, preset), 0);
		probe.before = probe.window;
		/* There is credit, and no need to measure a sleep. */
		fake.now_ns += 1 * MS;
		iw_thread.unprobed = 0;
		probe_again(fake.now_ns + ns);
		before = probe_stats();
		fake_script(NULL, 0);
		CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
		CHECK(fake.now_ns >= probe.base.deadline_ns);
		CHECK_EQ(probe.base.reason, IW_DEADLINE);
		CHECK_EQ(probe_why(&before), IPCWAIT_REASON_NONE);
		counted = probe_counted(&before);
		CHECK_EQ(counted.expired, 1);
		CHECK_EQ(counted.slept, 0);
		CHECK_EQ(counted.futex_waits, 0);
		probe_learned_nothing();
	}
}

static void deadline_ends_the_spin(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	/* One that the window ends before it is not meant. */
	probe_again(fake.now_ns + 5 * MS);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	deadlines_end_the_spin(IPCWAIT_ADAPTIVE);
	deadlines_end_the_spin(IPCWAIT_SPIN);
	/* Which reads the clock to know its window. */
	deadlines_end_the_spin(IPCWAIT_TICKS);
}

static uint64_t wasted_at_wake;

static void note_waste(void)
{
	wasted_at_wake = probe_counters().spun_wasted_ns;
}

static void note_waste_and_appear(void)
{
	wasted_at_wake = probe_counters().spun_wasted_ns - wasted_at_wake;
	probe_appear();
}

/* A spin after a sleep that was in vain lasts as long as the primitive says, and is charged. */
static void spin_after_a_sleep_is_charged(void)
{
	static const struct fake_step script[] = {
		{ .sleep_ns = 50 * US, .meanwhile = note_waste },
		{ .sleep_ns = 50 * US, .meanwhile = note_waste_and_appear },
	};

	world(IPCWAIT_ADAPTIVE, 2);
	probe.rest.spin_ns = 3000;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(wasted_at_wake >= 3000 && wasted_at_wake < 4000);
	CHECK(iw_thread.credit_full_at > (uint64_t)fake.now_ns);
}

/* The ceiling holds for it too. */
static void spin_after_a_sleep_has_a_ceiling(void)
{
	static const struct fake_step script[] = {
		{ .sleep_ns = 50 * US, .meanwhile = note_waste },
		{ .sleep_ns = 50 * US, .meanwhile = note_waste_and_appear },
	};

	world(IPCWAIT_ADAPTIVE, 2);
	((struct iw_facts *)iw_facts())->config.max_spin_us = 1;
	probe.rest.spin_ns = 3000;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(wasted_at_wake >= 1000 && wasted_at_wake < 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(window_over),
		CHILD_TEST(no_reason),
		CHILD_TEST(looks_apart),
		CHILD_TEST(preempted),
		CHILD_TEST(switched_out_and_back),
		CHILD_TEST(interrupted),
		CHILD_TEST(stolen),
		CHILD_TEST(dirty_length_is_not_learned),
		CHILD_TEST(dirty_length_after_a_sleep),
		CHILD_TEST(deadline_ends_the_spin),
		CHILD_TEST(spin_after_a_sleep_is_charged),
		CHILD_TEST(spin_after_a_sleep_has_a_ceiling),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
