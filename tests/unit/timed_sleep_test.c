/* SPDX-License-Identifier: MIT */
/* lib/engine/wait.c over a scripted kernel: waits that sleep on a timer and spin the rest. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "common/ticking.h"
#include "os/thread.h"
#include "policy/cost.h"

/* A sleep that a wake ends when the wait usually ends. */
static const struct fake_step at_the_tick[] = { { .sleep_ns = TICK_NS,
						  .meanwhile = probe_stamp_and_appear } };

static unsigned long_waits(void)
{
	return iw_window_count(&probe.window, IW_BIN_LONG);
}

static void expire_and_end_at_the_tick(void)
{
	ticking_expire();
	probe.there_at = ticking.begin + TICK_NS;
}

static void taken_in_the_spin_after_the_timer(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .meanwhile = expire_and_end_at_the_tick } };
	struct ipcwait_stats before = probe_stats(), after;
	struct ipcwait_kind_stats *was = &before.kind[IPCWAIT_KIND_SEM];
	struct ipcwait_kind_stats *is = &after.kind[IPCWAIT_KIND_SEM];

	ticking_world(0);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 1);
	CHECK_EQ(probe.withdraws, 1);
	CHECK(ticking_soon_after(fake.now_ns, ticking.begin + TICK_NS));
	/* Counted as one that slept, for the reason that the first spin had, on a timer. */
	after = probe_stats();
	CHECK_EQ(is->slept - was->slept, 1);
	CHECK_EQ(is->spun - was->spun, 0);
	CHECK_EQ(is->timed_sleeps - was->timed_sleeps, 1);
	CHECK(is->spun_useful_ns > was->spun_useful_ns);
	CHECK_EQ(after.reasons[IPCWAIT_REASON_LEARNED_LONG] -
			 before.reasons[IPCWAIT_REASON_LEARNED_LONG],
		 1);
	/* It lasted a tick, and waits like it go on to be regular. */
	CHECK_EQ(long_waits(), 25);
	CHECK(llabs((int64_t)iw_rhythm_length_ns((uint32_t)(probe.window.bins.v >> 40)) -
		    TICK_NS) < 2 * US);
	CHECK_EQ(probe.window.bins.v >> 61, 7);
}

static void wake_late(void)
{
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
	CHECK(fake.now_ns <= ticking.begin + (int64_t)ticking.plan.sleep.until_ns + 3 * US);
	fake.now_ns = ticking.begin + 2 * TICK_NS;
	probe_stamp_and_appear();
}

/* The wait outlasts the second spin: it settles once more, and sleeps until a wake. */
static void sleeps_again_if_the_spin_is_in_vain(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = ticking_expire },
		{ .meanwhile = wake_late, .late_ns = 20 * US },
	};
	struct ipcwait_kind_stats before = probe_counters(), after;
	uint64_t samples, spun;

	ticking_world(0);
	samples = iw_cost_samples();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(fake.waits, 2);
	CHECK_EQ(probe.settles, 2);
	CHECK_EQ(probe.withdraws, 1);
	after = probe_counters();
	spun = after.spun_wasted_ns - before.spun_wasted_ns;
	CHECK(spun > 1000 && spun <= ticking.plan.spin_ns + 2000);
	CHECK_EQ(after.slept - before.slept, 1);
	CHECK_EQ(after.timed_sleeps - before.timed_sleeps, 1);
	/* The sleep is what it was: two of them, without the spin. */
	CHECK(llabs((int64_t)(after.slept_ns - before.slept_ns + spun) -
		    (2 * TICK_NS + 20 * US)) < 10 * US);
	CHECK_EQ(iw_cost_samples(), samples + 1);
	/* Twice a tick: that was a miss. */
	CHECK_EQ(probe.window.bins.v >> 61, 5);
	CHECK(iw_thread.late_ns >= 20000 && iw_thread.late_ns < 22000);
}

static void expire_with_a_token(void)
{
	ticking_expire();
	probe_appear();
}

static void there_when_it_withdraws(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .meanwhile = expire_with_a_token } };
	struct ipcwait_kind_stats before = probe_counters(), after;

	ticking_world(0);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.withdraws, 1);
	CHECK_EQ(probe.settles, 1);
	after = probe_counters();
	CHECK_EQ(after.spun_useful_ns, before.spun_useful_ns);
	CHECK_EQ(after.slept - before.slept, 1);
	CHECK_EQ(long_waits(), 25);
}

static void woken_during_the_timed_sleep(void)
{
	const struct fake_step script[] = { { .sleep_ns = 300 * US,
					      .meanwhile = probe_stamp_and_appear,
					      .late_ns = 20 * US } };
	struct ipcwait_kind_stats before = probe_counters();
	uint64_t samples;

	ticking_world(0);
	samples = iw_cost_samples();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(ticking_on_timer(fake.wait.deadline_ns));
	CHECK_EQ(probe.withdraws, 0);
	CHECK_EQ(iw_cost_samples(), samples + 1);
	CHECK_EQ(probe_counters().timed_sleeps - before.timed_sleeps, 1);
	CHECK_EQ(probe.window.bins.v >> 61, 5);
}

static void deadline_before_the_timer(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .sleep_ns = 500 * US } };
	struct ipcwait_kind_stats before = probe_counters(), after;

	ticking_world(500 * US);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
	CHECK_EQ(fake.wait.deadline_ns, ticking.begin + 500 * US);
	CHECK_EQ(probe.withdraws, 1);
	after = probe_counters();
	CHECK_EQ(after.timed_sleeps, before.timed_sleeps);
	CHECK_EQ(after.expired - before.expired, 1);
}

/* It ends the second spin, and the wait. */
static void deadline_after_the_timer(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = ticking_expire },
		{ .result = -ETIMEDOUT },
	};

	ticking_world(TICK_NS - 3 * US);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
	CHECK_EQ(fake.waits, 2);
	CHECK_EQ(fake.wait.deadline_ns, ticking.begin + TICK_NS - 3 * US);
	CHECK(fake.now_ns < ticking.begin + TICK_NS);
	CHECK_EQ(probe.withdraws, 2);
}

static void signal_in_the_timed_sleep(void)
{
	const struct fake_step script[] = { { .result = -EINTR, .sleep_ns = 200 * US },
					    { .result = -EFAULT } };
	uint64_t rhythm;

	ticking_world(0);
	rhythm = probe.window.bins.v >> 40;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), -EFAULT);
	CHECK_EQ(fake.waits, 2);
	CHECK_EQ(probe.withdraws, 1);
	/* A long wait, but who knows how long it would have been. */
	CHECK_EQ(probe.window.bins.v >> 40, rhythm);
	CHECK_EQ(long_waits(), 25);
}

/* The word changed before the sleep: the next sleep has the same timer. */
static void refused_timed_sleep(void)
{
	struct ipcwait_kind_stats before;
	const struct fake_step script[] = {
		{ .result = -EAGAIN },
		{ .sleep_ns = TICK_NS,
		  .meanwhile = probe_stamp_and_appear,
		  .late_ns = 20 * US },
	};

	ticking_world(0);
	FAKE_SCRIPT(script);
	before = probe_counters();
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(fake.wait.deadline_ns < ticking.begin + TICK_NS);
	CHECK_EQ(probe_counters().timed_sleeps - before.timed_sleeps, 1);
	CHECK_EQ(probe.withdraws, 0);
	CHECK_EQ(probe.window.bins.v >> 61, 7);
}

static void expire_too_late(void)
{
	ticking_expire();
	fake.now_ns = ticking.begin + (int64_t)ticking.plan.sleep.until_ns + 50 * US;
}

/* Nothing is left to spin, so it only withdraws and settles again. */
static void timer_beyond_the_end_of_the_spin(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = expire_too_late },
		{ .sleep_ns = 100 * US,
		  .meanwhile = probe_stamp_and_appear,
		  .late_ns = 20 * US },
	};
	struct ipcwait_kind_stats before = probe_counters();

	ticking_world(0);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.withdraws, 1);
	CHECK_EQ(probe.settles, 2);
	CHECK(probe_counters().spun_wasted_ns - before.spun_wasted_ns < 1000);
}

static void empty_the_budget(void)
{
	ticking_expire();
	iw_thread.credit_full_at = (uint64_t)fake.now_ns + 30000000;
}

static void spin_after_the_timer_is_not_admitted(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = empty_the_budget },
		{ .sleep_ns = 100 * US, .meanwhile = probe_appear },
	};
	struct ipcwait_stats before = probe_stats(), after;

	ticking_world(0);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 2);
	after = probe_stats();
	/* Why it slept is why it slept first. */
	CHECK_EQ(after.reasons[IPCWAIT_REASON_LEARNED_LONG] -
			 before.reasons[IPCWAIT_REASON_LEARNED_LONG],
		 1);
	CHECK_EQ(after.reasons[IPCWAIT_REASON_BUDGET_EMPTY],
		 before.reasons[IPCWAIT_REASON_BUDGET_EMPTY]);
}

/* A wake that changes nothing would be lost on a waiter that is up. */
static void not_where_a_waiter_must_stay_asleep(void)
{
	ticking_world(0);
	probe.fixed = true;
	ticking_next(IPCWAIT_FOREVER);
	FAKE_SCRIPT(at_the_tick);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
}

/* Only to LATENCY a timer is worth it. */
static void not_by_these_presets(void)
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_SPIN, IPCWAIT_BLOCK,
						       IPCWAIT_ADAPTIVE, IPCWAIT_POWER,
						       IPCWAIT_TICKS };
	const struct fake_step script[] = { { .sleep_ns = TICK_NS,
					      .meanwhile = probe_appear } };

	for (unsigned i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		ticking_world(0);
		CHECK_EQ(ipcwait_window_set_preset(&probe.window, presets[i]), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
	}
}

/* The CPU is taken away in the first spin for longer than the whole wait should last. */
static void jump(void)
{
	if (probe.looks != 8)
		return;
	probe.looks++;
	fake.now_ns += 3 * TICK_NS;
}

static void no_timer_for_a_moment_that_is_past(void)
{
	struct ipcwait_kind_stats before = probe_counters(), after;

	ticking_world(0);
	for (int i = 0; i < 60; i++)
		iw_window_record(&probe.window, 0, 1, 0);
	ticking_next(IPCWAIT_FOREVER);
	CHECK(ticking.timed && ticking.spin_ns > 1000);
	fake.on_clock = jump;
	FAKE_SCRIPT(at_the_tick);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
	after = probe_counters();
	CHECK_EQ(after.stolen - before.stolen, 1);
	CHECK_EQ(after.timed_sleeps, before.timed_sleeps);
}

/* Who comes late to a wait, because it was woken late from the last, has less of it left. */
static void late_waiters_sleep_shorter(void)
{
	ticking_world(0);
	/* On time, late on this object, late on another. */
	for (int i = 0; i < 3; i++) {
		int64_t late_ns = i == 1 ? (int64_t)iw_thread.late_ns : 0;
		const struct fake_step script[] = { { .sleep_ns = TICK_NS - late_ns,
						      .meanwhile = probe_stamp_and_appear,
						      .late_ns = 40 * US } };

		if (i == 2)
			iw_thread.late_on = &ticking.plan;
		ticking_next(IPCWAIT_FOREVER);
		CHECK(ticking.timed);
		ticking.plan.sleep.wake_ns -= (uint64_t)late_ns;
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK(ticking_on_timer(fake.wait.deadline_ns));
		CHECK(iw_thread.late_ns > 40000 && iw_thread.late_ns < 41000);
		CHECK_EQ(probe.window.bins.v >> 61, 7);
	}
}

/* A deadline that always passes is no rhythm: nothing is spun for it, and no timer set. */
static void expiring_waits_are_not_regular(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .sleep_ns = 10 * TICK_NS } };

	probe_world(IPCWAIT_LATENCY, 2);
	for (int i = 0; i < 40; i++) {
		probe_again(fake.now_ns + 10 * TICK_NS);
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
		CHECK_EQ(fake.wait.deadline_ns, probe.base.deadline_ns);
	}
	CHECK_EQ(long_waits(), 24);
	CHECK_EQ(probe.window.bins.v >> 40, 0);
}

static void expire_and_leave_no_room(void)
{
	ticking_expire();
	probe.full = true;
}

static void make_room(void)
{
	CHECK(fake.wait.word != &probe.word);
	CHECK_EQ(probe.withdraws, 1);
	probe.full = false;
}

/* A nap after the timed sleep is no second one. */
static void nap_after_the_timed_sleep(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = expire_and_leave_no_room },
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US, .meanwhile = make_room },
		{ .sleep_ns = 100 * US, .meanwhile = probe_appear },
	};

	ticking_world(0);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(fake.waits, 3);
	CHECK_EQ(probe.withdraws, 1);
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(taken_in_the_spin_after_the_timer),
		CHILD_TEST(sleeps_again_if_the_spin_is_in_vain),
		CHILD_TEST(there_when_it_withdraws),
		CHILD_TEST(woken_during_the_timed_sleep),
		CHILD_TEST(deadline_before_the_timer),
		CHILD_TEST(deadline_after_the_timer),
		CHILD_TEST(signal_in_the_timed_sleep),
		CHILD_TEST(refused_timed_sleep),
		CHILD_TEST(timer_beyond_the_end_of_the_spin),
		CHILD_TEST(spin_after_the_timer_is_not_admitted),
		CHILD_TEST(not_where_a_waiter_must_stay_asleep),
		CHILD_TEST(not_by_these_presets),
		CHILD_TEST(no_timer_for_a_moment_that_is_past),
		CHILD_TEST(late_waiters_sleep_shorter),
		CHILD_TEST(expiring_waits_are_not_regular),
		CHILD_TEST(nap_after_the_timed_sleep),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
