/* SPDX-License-Identifier: MIT */
/*
 * lib/engine/wait.c over a scripted kernel, with a primitive that only counts what it is asked:
 * when the engine looks, when it reads the clock, and what it learns.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "os/thread.h"
#include "policy/cost.h"
#include "engine/wait.h"
#include "engine/wake.h"

#define US INT64_C(1000)

/* In a child: the facts are gathered with a trusted counter, so ticks cost no clock. */
static void one_cpu_reads_no_clock(void)
{
	const struct fake_step script[] = {
		{ 0 }, { 0 }, { .result = -EAGAIN }, { .meanwhile = probe_appear }
	};

	probe_world(IPCWAIT_SPIN, 1);
	fake.counter_trusted = true;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(fake.waits, 4);
	/* One look after each sleep, none before. */
	CHECK_EQ(probe.looks, 4);
	CHECK_EQ(fake.clock_readings, 0);
	/* With a deadline: once, to see whether it has passed. */
	probe_again(fake.now_ns + 1000 * US);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.looks, 4);
	CHECK(fake.clock_readings <= 1);
	/* Nothing was learned, and a waker like that leaves no stamp. */
	CHECK_EQ(probe.window.bins.v, 0);
	CHECK_EQ(iw_thread.alone, 1);
}

static void block_does_not_spin(void)
{
	const struct fake_step script[] = { { .meanwhile = probe_appear } };

	probe_world(IPCWAIT_BLOCK, 2);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.looks, 1);
	CHECK_EQ(probe.settles, 1);
}

/* Twice B of virtual time, then one sleep. */
static void spin_spins_for_2b(void)
{
	const struct fake_step script[] = { { .meanwhile = probe_appear } };
	struct ipcwait_kind_stats before = probe_counters();
	struct ipcwait_stats st;
	uint64_t spun;

	probe_world(IPCWAIT_SPIN, 2);
	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(probe.looks > 10);
	spun = probe_counters().spun_wasted_ns - before.spun_wasted_ns;
	CHECK(spun >= 2 * st.block_cost_ns);
	CHECK(spun <= 2 * st.block_cost_ns + 5000);
}

static void spin_ends_when_it_is_there(void)
{
	struct ipcwait_kind_stats before = probe_counters(), after;

	probe_world(IPCWAIT_SPIN, 2);
	probe.there_at = fake.now_ns + 3 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 0);
	CHECK_EQ(fake.waits, 0);
	probe_learned_once(3 * US);
	after = probe_counters();
	CHECK_EQ(after.spun - before.spun, 1);
	CHECK(after.spun_useful_ns > before.spun_useful_ns);
	CHECK_EQ(after.spun_wasted_ns, before.spun_wasted_ns);
}

/* The wait ended at the stamp; the 40 us after it are what waking took. */
static void stamp_tells_the_true_length(void)
{
	const struct fake_step script[] = {
		{ .sleep_ns = 3 * US,
		  .meanwhile = probe_stamp_and_appear,
		  .late_ns = 40 * US },
	};
	uint64_t samples;

	probe_world(IPCWAIT_BLOCK, 2);
	samples = iw_cost_samples();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(3 * US);
	CHECK_EQ(iw_cost_samples(), samples + 1);
}

/* No stamp: the usual 20 us are taken off instead. */
static void without_a_stamp_the_usual_latency_counts(void)
{
	const struct fake_step script[] = { { .sleep_ns = 80 * US,
					      .meanwhile = probe_appear } };
	uint64_t samples;

	probe_world(IPCWAIT_BLOCK, 2);
	samples = iw_cost_samples();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(60 * US);
	CHECK_EQ(iw_cost_samples(), samples);
}

/* A stamp of an earlier wait says nothing about this one. */
static void old_stamp_is_ignored(void)
{
	const struct fake_step script[] = { { .sleep_ns = 80 * US,
					      .meanwhile = probe_appear } };

	probe_world(IPCWAIT_BLOCK, 2);
	probe_stamp();
	fake.now_ns += 1000 * US;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(60 * US);
}

/* The sleep did not come about, so the wait was as short as it was. */
static void refused_sleep_is_a_short_wait(void)
{
	const struct fake_step script[] = { { .result = -EAGAIN,
					      .meanwhile = probe_appear } };
	uint64_t samples;

	probe_world(IPCWAIT_BLOCK, 2);
	probe_stamp();
	fake.now_ns += 1000 * US;
	samples = iw_cost_samples();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(0);
	CHECK_EQ(iw_cost_samples(), samples);
}

/* It counts from the beginning to the last stamp, over all sleeps. */
static void several_sleeps_are_one_wait(void)
{
	const struct fake_step script[] = {
		{ .sleep_ns = 100 * US, .late_ns = 5 * US },
		{ .result = -EAGAIN },
		{ .sleep_ns = 200 * US,
		  .meanwhile = probe_stamp_and_appear,
		  .late_ns = 30 * US },
	};

	probe_world(IPCWAIT_BLOCK, 2);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(305 * US);
}

/* Only a real wake is a sample of what a wake costs. */
static void other_ends_are_no_samples(void)
{
	static const int ends[] = { -EAGAIN, -EINTR, -ETIMEDOUT };

	for (unsigned i = 0; i < 3; i++) {
		const struct fake_step script[] = {
			{ ends[i], 50 * US, probe_stamp_and_appear, .late_ns = 30 * US },
		};
		uint64_t samples;

		probe_world(IPCWAIT_BLOCK, 2);
		samples = iw_cost_samples();
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK_EQ(iw_cost_samples(), samples);
	}
}

/* Waiting for somebody whom this thread has just woken: 20 us of it are its own doing. */
static void delay_of_own_wake_is_not_learned(void)
{
	probe_world(IPCWAIT_SPIN, 2);
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &probe.word, 1, false, (uint64_t)fake.now_ns),
		 1);
	probe.there_at = fake.now_ns + 26 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(6 * US);
	/* The next wait has no such excuse. */
	probe.window.bins.v = 0;
	probe_again(IPCWAIT_FOREVER);
	probe.there_at = fake.now_ns + 26 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(26 * US);
}

static void old_wake_causes_no_delay(void)
{
	probe_world(IPCWAIT_SPIN, 2);
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &probe.word, 1, false, (uint64_t)fake.now_ns),
		 1);
	fake.now_ns += 100 * US;
	probe.there_at = fake.now_ns + 26 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(26 * US);
}

static void wake_of_nobody_causes_no_delay(void)
{
	probe_world(IPCWAIT_SPIN, 2);
	fake.woken = 0;
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &probe.word, 1, false, (uint64_t)fake.now_ns),
		 0);
	fake.woken = -EFAULT;
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &probe.word, 1, false, (uint64_t)fake.now_ns),
		 -EFAULT);
	probe.there_at = fake.now_ns + 26 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(26 * US);
}

/* However a wait ends, it is counted once. */
static void every_wait_is_counted_once(void)
{
	static const struct {
		struct fake_step step;
		int result;
	} rows[] = {
		{ { .result = 0, .meanwhile = probe_appear }, 0 },
		{ { .result = -EAGAIN, .meanwhile = probe_appear }, 0 },
		{ { .result = -EINTR }, -EINTR },
		{ { .result = -EINTR, .meanwhile = probe_appear }, 0 },
		{ { .result = -ETIMEDOUT }, -ETIMEDOUT },
		{ { .result = -ETIMEDOUT, .meanwhile = probe_appear }, 0 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ipcwait_kind_stats before = probe_counters(), after;

		probe_world(IPCWAIT_BLOCK, 2);
		probe_again(fake.now_ns + 1000 * US);
		fake_script(&rows[i].step, 1);
		CHECK_EQ(iw_wait(&probe.base), rows[i].result);
		after = probe_counters();
		CHECK_EQ(after.spun + after.slept + after.expired + after.interrupted,
			 before.spun + before.slept + before.expired + before.interrupted +
				 1);
		CHECK_EQ(after.slept - before.slept, rows[i].result == 0);
		CHECK_EQ(after.futex_waits - before.futex_waits, 1);
	}
}

static void sleep_is_counted(void)
{
	const struct fake_step script[] = { { .sleep_ns = 700 * US,
					      .meanwhile = probe_appear } };
	struct ipcwait_kind_stats before = probe_counters();
	uint64_t slept;

	probe_world(IPCWAIT_BLOCK, 2);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	slept = probe_counters().slept_ns - before.slept_ns;
	CHECK(slept >= 700000);
	CHECK(slept <= 701000);
}

static void get_second_cpu(void)
{
	fake.allowed.count = 2;
	iw_thread.cpus = 0;
}

static void lose_second_cpu(void)
{
	fake.allowed.count = 1;
	iw_thread.cpus = 0;
}

/* The affinity mask changes in the middle of a wait: no counter jumps by the uptime. */
static void change_of_cpus_in_a_wait(void)
{
	for (unsigned cpus = 1; cpus <= 2; cpus++) {
		const struct fake_step script[] = {
			{ .sleep_ns = 100 * US,
			  .meanwhile = cpus == 1 ? get_second_cpu : lose_second_cpu },
			{ .sleep_ns = 100 * US },
			{ .sleep_ns = 100 * US, .meanwhile = probe_appear },
		};
		struct ipcwait_kind_stats before = probe_counters();

		probe_world(IPCWAIT_SPIN, cpus);
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK(probe_counters().slept_ns - before.slept_ns <= 1000000);
	}
}

static void never_retried(void)
{
	static const int errors[] = { -EINVAL, -EFAULT, -ENOSYS, -EPERM };

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct fake_step script[] = { { .result = errors[i] } };

		probe_world(IPCWAIT_INHERIT, 2);
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), errors[i]);
		CHECK_EQ(fake.waits, 1);
		CHECK_EQ(probe.withdraws, 1);
		CHECK_EQ(errno, 4711);
	}
}

/* A new object: long waits teach it to sleep at once, short ones to spin probe_again. */
static void learns_both_ways(void)
{
	const struct fake_step slow[] = {
		{ .sleep_ns = 10000 * US,
		  .meanwhile = probe_stamp_and_appear,
		  .late_ns = 20 * US },
	};
	const struct fake_step fast[] = {
		{ .sleep_ns = 1 * US,
		  .meanwhile = probe_stamp_and_appear,
		  .late_ns = 20 * US },
	};

	probe_world(IPCWAIT_ADAPTIVE, 2);
	for (int i = 0; i < 40; i++) {
		probe_again(IPCWAIT_FOREVER);
		FAKE_SCRIPT(slow);
		CHECK_EQ(iw_wait(&probe.base), 0);
	}
	/* The first looks, which cost less than working the window out; then the sleep. */
	CHECK(probe.looks < 12);
	/* Found by spinning as soon as somebody spins, by sleeping until then. */
	for (int i = 0; i < 60; i++) {
		probe_again(IPCWAIT_FOREVER);
		probe.there_at = fake.now_ns + 1 * US;
		FAKE_SCRIPT(fast);
		CHECK_EQ(iw_wait(&probe.base), 0);
	}
	probe_again(IPCWAIT_FOREVER);
	probe.there_at = fake.now_ns + 2 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(one_cpu_reads_no_clock),
		CHILD_TEST(block_does_not_spin),
		CHILD_TEST(spin_spins_for_2b),
		CHILD_TEST(spin_ends_when_it_is_there),
		CHILD_TEST(stamp_tells_the_true_length),
		CHILD_TEST(without_a_stamp_the_usual_latency_counts),
		CHILD_TEST(old_stamp_is_ignored),
		CHILD_TEST(refused_sleep_is_a_short_wait),
		CHILD_TEST(several_sleeps_are_one_wait),
		CHILD_TEST(other_ends_are_no_samples),
		CHILD_TEST(delay_of_own_wake_is_not_learned),
		CHILD_TEST(old_wake_causes_no_delay),
		CHILD_TEST(wake_of_nobody_causes_no_delay),
		CHILD_TEST(every_wait_is_counted_once),
		CHILD_TEST(sleep_is_counted),
		CHILD_TEST(change_of_cpus_in_a_wait),
		CHILD_TEST(never_retried),
		CHILD_TEST(learns_both_ways),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
