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
#include "engine/wait.h"
#include "engine/wake.h"
#include "os/thread.h"
#include "policy/cost.h"
#include "policy/window.h"

#define US INT64_C(1000)

/* An object on which waits have been so long that it sleeps at once, and goes on learning. */
static void sleeping_world(void)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	probe_teach(20, IW_BIN_LONG);
}

/* In a child: the facts are gathered with a trusted counter, so ticks cost no clock. */
static void reads_no_clock(enum ipcwait_preset preset, unsigned cpus)
{
	const struct fake_step script[] = {
		{ 0 }, { 0 }, { .result = -EAGAIN }, { .meanwhile = probe_appear }
	};

	probe_world(preset, cpus);
	fake.counter_trusted = true;
	/* The first wait may look before it knows. */
	iw_thread.alone = true;
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
	/* Nothing was learned, and of a wake by this thread nothing would be. */
	probe_learned_nothing();
	CHECK(iw_thread.alone);
	CHECK_EQ(iw_stamp(&probe.window), 0);
}

static void one_cpu_reads_no_clock(void)
{
	reads_no_clock(IPCWAIT_SPIN, 1);
}

static void block_reads_no_clock(void)
{
	reads_no_clock(IPCWAIT_BLOCK, 2);
}

static void block_does_not_spin(void)
{
	const struct fake_step script[] = { { .meanwhile = probe_appear } };

	probe_world(IPCWAIT_BLOCK, 2);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.looks, 1);
	CHECK_EQ(probe.settles, 1);
	probe_learned_nothing();
}

/*
 * What a wait that sleeps at once costs: the clock before and after its sleep, and a look after
 * it; with a deadline, whether that has passed.
 */
static void long_waits_sleep_at_once(void)
{
	const struct fake_step script[] = { { .sleep_ns = 10000 * US,
					      .meanwhile = probe_appear } };

	sleeping_world();
	for (unsigned deadline = 0; deadline < 2; deadline++) {
		probe_again(deadline ? fake.now_ns + 20000 * US : IPCWAIT_FOREVER);
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK_EQ(probe.looks, 1);
		CHECK_EQ(probe.settles, 1);
		CHECK_EQ(fake.clock_readings, 2 + deadline);
	}
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

/* SPIN asks nothing of what is learned, and learns nothing. */
static void spin_spins_whatever_it_has_learned(void)
{
	static const struct fake_step script[] = { { .meanwhile = probe_appear } };
	uint64_t spun = probe_counters().spun_wasted_ns;

	probe_world(IPCWAIT_SPIN, 2);
	probe_teach(20, IW_BIN_LONG);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(probe_counters().spun_wasted_ns - spun >= (uint64_t)(2 * PROBE_BLOCK_NS));
	probe_learned_nothing();
}

static void spin_ends_when_it_is_there(void)
{
	struct ipcwait_kind_stats before = probe_counters(), after;

	probe_world(IPCWAIT_ADAPTIVE, 2);
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

/* It is there after a look or two: nothing is worked out, and no clock is read. */
static void first_looks_cost_nothing_else(void)
{
	struct ipcwait_kind_stats before = probe_counters(), after;

	probe_world(IPCWAIT_ADAPTIVE, 2);
	CHECK(iw_facts() != NULL);
	fake.clock_readings = 0;
	probe.there = true;
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.looks, 1);
	CHECK_EQ(fake.clock_readings, 0);
	after = probe_counters();
	CHECK_EQ(after.spun - before.spun, 1);
	CHECK_EQ(after.slept, before.slept);
	probe_learned_once(0);
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
		probe.base.interruptible = rows[i].step.result == -EINTR;
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

	sleeping_world();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	slept = probe_counters().slept_ns - before.slept_ns;
	CHECK(slept >= 700000);
	CHECK(slept <= 701000);
}

static struct ipcwait_stats asleep;

static void note_stats_and_appear(void)
{
	asleep = probe_stats();
	probe_stamp_and_appear();
}

/* Nobody waits for the counters of a thread that has been woken: they are added to before. */
static void counted_before_it_sleeps(void)
{
	const struct fake_step script[] = { { .sleep_ns = 700 * US,
					      .meanwhile = note_stats_and_appear } };
	struct ipcwait_stats before;

	sleeping_world();
	before = probe_stats();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(asleep.kind[IPCWAIT_KIND_SEM].slept - before.kind[IPCWAIT_KIND_SEM].slept,
		 1);
	CHECK_EQ(asleep.reasons[IPCWAIT_REASON_LEARNED_LONG] -
			 before.reasons[IPCWAIT_REASON_LEARNED_LONG],
		 1);
	CHECK_EQ(probe_counted(&before).slept, 1);
	CHECK_EQ(probe_why(&before), IPCWAIT_REASON_LEARNED_LONG);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(one_cpu_reads_no_clock),
		CHILD_TEST(block_reads_no_clock),
		CHILD_TEST(block_does_not_spin),
		CHILD_TEST(long_waits_sleep_at_once),
		CHILD_TEST(spin_spins_for_2b),
		CHILD_TEST(spin_spins_whatever_it_has_learned),
		CHILD_TEST(spin_ends_when_it_is_there),
		CHILD_TEST(first_looks_cost_nothing_else),
		CHILD_TEST(every_wait_is_counted_once),
		CHILD_TEST(sleep_is_counted),
		CHILD_TEST(counted_before_it_sleeps),
		CHILD_TEST(never_retried),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
