/* SPDX-License-Identifier: MIT */
/*
 * lib/engine over a scripted kernel, with a primitive that only counts what it is asked: what is
 * learned from the length of a wait, and what that length is taken to be.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "engine/wait.h"
#include "engine/wake.h"
#include "policy/cost.h"
#include "policy/window.h"

#define US INT64_C(1000)

/* An object on which waits have been so long that it sleeps at once, and goes on learning. */
static void sleeping_world(void)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	probe_teach(20, IW_BIN_LONG);
}

/* Of quick waits on a known object one in eight is remembered, for eight. */
static void one_in_eight_counts_for_eight(void)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	probe_teach(8, IW_BIN_LONG);
	probe_teach(8, 0);
	for (unsigned i = 1; i <= 16; i++) {
		probe_again(IPCWAIT_FOREVER);
		if (i % 2)
			probe.there = true;
		else
			probe.there_at = fake.now_ns + 1 * US;
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK_EQ(iw_window_count(&probe.window, 0), 8 + i / 8 * 8);
	}
	/* On one that is young each counts. */
	probe_world(IPCWAIT_ADAPTIVE, 2);
	for (unsigned i = 0; i < 8; i++) {
		CHECK_EQ(iw_window_count(&probe.window, 0), i);
		probe_again(IPCWAIT_FOREVER);
		probe.there = true;
		CHECK_EQ(iw_wait(&probe.base), 0);
	}
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

	sleeping_world();
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

	sleeping_world();
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

	sleeping_world();
	probe_stamp();
	probe.before = probe.window;
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

	sleeping_world();
	probe_stamp();
	probe.before = probe.window;
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

	sleeping_world();
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

		sleeping_world();
		samples = iw_cost_samples();
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK_EQ(iw_cost_samples(), samples);
	}
}

/* A young object on which waits of up to B end while spinning. */
static void spinning_world(void)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	probe_teach(4, 3);
}

/* Waiting for somebody whom this thread has just woken: 20 us of it are its own doing. */
static void delay_of_own_wake_is_not_learned(void)
{
	spinning_world();
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &probe.word, 1, false, (uint64_t)fake.now_ns),
		 1);
	probe.there_at = fake.now_ns + 24 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(4 * US);
	/* The next wait has no such excuse. */
	probe_again(IPCWAIT_FOREVER);
	probe.there_at = fake.now_ns + 24 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(24 * US);
}

static void old_wake_causes_no_delay(void)
{
	spinning_world();
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &probe.word, 1, false, (uint64_t)fake.now_ns),
		 1);
	fake.now_ns += 100 * US;
	probe.there_at = fake.now_ns + 24 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(24 * US);
}

static void wake_of_nobody_causes_no_delay(void)
{
	spinning_world();
	fake.woken = 0;
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &probe.word, 1, false, (uint64_t)fake.now_ns),
		 0);
	fake.woken = -EFAULT;
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &probe.word, 1, false, (uint64_t)fake.now_ns),
		 -EFAULT);
	probe.there_at = fake.now_ns + 24 * US;
	CHECK_EQ(iw_wait(&probe.base), 0);
	probe_learned_once(24 * US);
}

/* Of a thread's wake-ups one in four is a sample of what they take. */
static void one_sleep_in_four_is_a_sample(void)
{
	const struct fake_step script[] = { { .sleep_ns = 700 * US,
					      .meanwhile = probe_stamp_and_appear,
					      .late_ns = 20 * US } };
	uint64_t samples;

	sleeping_world();
	samples = iw_cost_samples();
	for (unsigned i = 0; i < 40; i++) {
		CHECK_EQ(iw_cost_samples() - samples, (i + 3) / 4);
		probe_again(IPCWAIT_FOREVER);
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
	}
}

/* A new object: long waits teach it to sleep at once, short ones to spin again. */
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
	/* None before the sleep. */
	CHECK_EQ(probe.looks, 1);
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
		CHILD_TEST(one_in_eight_counts_for_eight),
		CHILD_TEST(stamp_tells_the_true_length),
		CHILD_TEST(without_a_stamp_the_usual_latency_counts),
		CHILD_TEST(old_stamp_is_ignored),
		CHILD_TEST(refused_sleep_is_a_short_wait),
		CHILD_TEST(several_sleeps_are_one_wait),
		CHILD_TEST(other_ends_are_no_samples),
		CHILD_TEST(delay_of_own_wake_is_not_learned),
		CHILD_TEST(old_wake_causes_no_delay),
		CHILD_TEST(wake_of_nobody_causes_no_delay),
		CHILD_TEST(one_sleep_in_four_is_a_sample),
		CHILD_TEST(learns_both_ways),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
