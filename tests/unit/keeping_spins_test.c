/* SPDX-License-Identifier: MIT */
/*
 * The engine over generated waits (common/played.h): how each ends, what is counted, how long it
 * spins and what that is charged.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/expected.h"
#include "common/fake_os.h"

static const struct played_sleep *last_sleep(void)
{
	return &played.sleep[played.sleeps - 1];
}

static void check_sleep(const struct played_sleep *s)
{
	int64_t most =
		s->until_ns < played.me.deadline_ns ? s->until_ns : played.me.deadline_ns;

	if (!s->published && s->begin + 1000000 < most)
		most = s->begin + 1000000;
	if (expected_timer(s))
		CHECK(want.timed && played.script.rest.may_spin);
	else
		CHECK_EQ(s->deadline_ns, most);
}

static void check_end(void)
{
	CHECK_EQ(played.result == 0, played.taken != NOT_TAKEN);
	/* Who gives up leaves nothing behind. */
	CHECK(played.result == 0 || played.withdrawn);
	for (unsigned i = 0; i < played.sleeps; i++) {
		check_sleep(&played.sleep[i]);
		/* Some ends of a sleep end the wait, the others do not. */
		if (i + 1 < played.sleeps)
			CHECK(played.sleep[i].result != -EINVAL &&
			      (played.sleep[i].result != -EINTR ||
			       !played.me.interruptible));
	}
	CHECK(played.result != -EINVAL || last_sleep()->result == -EINVAL);
	CHECK(played.result != -EINTR ||
	      (last_sleep()->result == -EINTR && played.me.interruptible));
	if (played.result != -ETIMEDOUT)
		return;
	CHECK(played.end >= played.me.deadline_ns);
	CHECK(played.sleeps || taps.spins || want.polled);
	/* Late are the thread, the hypervisor and the test's own readings. */
	if (!want.polled)
		CHECK(played.end <= played.me.deadline_ns + 60 * fake.step_ns +
					    4 * played.script.late_ns +
					    played.script.lose_ns +
					    (int64_t)played.me.apart_ns);
}

static void ends_as_it_must(void)
{
	expected_play(check_end);
}

/* Why it slept, if it did: the first reason that there was. */
static enum iw_reason reason(void)
{
	if (want.polled || want.quick || !played.settles || expected_at_deadline())
		return IW_NO_REASON;
	if (want.plan)
		return want.plan;
	if (played.looks_first && played.seen_first != IW_AWAY)
		return played.seen_first == IW_AWAY_CROWDED ? IW_CROWDED : IW_OVERTAKEN;
	return expected_why(&taps.spin[0]);
}

static void check_counters(void)
{
	const struct ipcwait_kind_stats *c = &played.counted;
	uint64_t spun[2] = { 0, 0 }, preempted = 0, stolen = 0;
	bool counted = !(want.polled && !played.result) && played.result != -EINVAL;
	int64_t slept_ns = 0;
	unsigned timers = 0;

	CHECK_EQ(c->spun + c->slept + c->expired + c->interrupted, counted);
	CHECK_EQ(c->expired, played.result == -ETIMEDOUT);
	CHECK_EQ(c->interrupted, played.result == -EINTR);
	if (!played.result && !want.polled)
		CHECK_EQ(c->slept, played.settles && !expected_at_deadline());
	CHECK_EQ((unsigned)played.why, reason());
	CHECK_EQ(c->futex_waits, played.sleeps);
	for (unsigned i = 0; i < taps.spins; i++) {
		const struct tap_spin *s = &taps.spin[i];

		spun[expected_found(s)] += NS(s->last - s->start) - NS(expected_lost(s));
		preempted += expected_why(s) == IW_PREEMPTED;
		stolen += expected_why(s) == IW_STOLEN;
	}
	CHECK_EQ(c->spun_wasted_ns, spun[0]);
	CHECK_EQ(c->spun_useful_ns, spun[1]);
	CHECK_EQ(c->preempted, preempted);
	CHECK_EQ(c->stolen, stolen);
	for (unsigned i = 0; i < played.sleeps; i++) {
		slept_ns += played.sleep[i].end - played.sleep[i].begin;
		timers += expected_timer(&played.sleep[i]) &&
			  played.sleep[i].result != -EAGAIN;
	}
	CHECK(expected_within((int64_t)c->slept_ns, want.earnest ? slept_ns : 0,
			      8 * (played.sleeps + taps.spins)));
	CHECK_EQ(c->timed_sleeps, timers);
}

/* A plain sleep is timed for people only. */
static void check_told_sleep(const struct iw_outcome *o)
{
	uint64_t slept_ns = 0;

	if (want.earnest) {
		CHECK_EQ(o->slept_ns, played.counted.slept_ns);
		return;
	}
	for (unsigned i = 0; i < played.sleeps; i++)
		slept_ns += played.sleep[i].end - played.sleep[i].begin;
	CHECK(expected_within((int64_t)o->slept_ns, slept_ns, 8 * (played.sleeps + 1)));
}

/* What people are told is what was counted, and why is why it slept first. */
static void check_outcome(void)
{
	const struct iw_outcome *o = &taps.outcome;
	bool spun = taps.spins && !want.plan && !taps.spin[0].why &&
		    played.seen_first == IW_AWAY;
	bool at_once = taps.spins && !taps.spin[0].why && expected_found(&taps.spin[0]);
	bool deadline;

	CHECK_EQ(taps.observed, !want.polled);
	if (want.polled)
		return;
	CHECK(o->window == played.me.window && o->site == played.me.site);
	CHECK_EQ(o->resumable, played.me.what->resumable);
	CHECK_EQ(o->result, played.result);
	CHECK_EQ(o->reason, want.plan == IW_LEARNED_LONG && want.quick ? 0 : reason());
	CHECK_EQ(o->spun_useful_ns, played.counted.spun_useful_ns);
	CHECK_EQ(o->spun_wasted_ns, played.counted.spun_wasted_ns);
	check_told_sleep(o);
	CHECK_EQ(o->window_ns,
		 spun ? NS(expected_ticks(&taps.spin[0], &deadline)) : o->window_ns);
	CHECK(spun || at_once || !o->window_ns);
}

static void people_are_told(void)
{
	expected_play(check_outcome);
}

static void counters_add_up(void)
{
	expected_play(check_counters);
}

/* Neither the thread nor the process has more in vain behind it than its burst. */
static bool affordable(const struct tap_spin *s)
{
	int32_t percent = want.facts->config.spin_budget_percent;
	uint64_t burst = TICKS(UINT64_C(1000000)) * 100, process;

	if (percent < 0)
		percent = 5;
	if (percent == 0 || percent == 100 || want.facts->dedicated)
		return percent != 0;
	burst /= (uint64_t)percent;
	process = burst * 2 / want.facts->cpus;
	return taps_ahead(s->thread_full_at, s->start, burst) < burst &&
	       taps_ahead(s->process_full_at, s->start, process) < process;
}

static void check_admission(const struct tap_spin *s)
{
	bool may_probe = (s->unprobed + 1) % 8 == 0 && s->unprobed + 1 >= 64;

	if (want.preset > IPCWAIT_POWER) {
		CHECK_EQ(s->why, IW_NO_REASON);
	} else if (!affordable(s)) {
		CHECK_EQ(s->why, IW_BUDGET_EMPTY);
	} else {
		CHECK_EQ(s->why, s->probe_due ? IW_PROBE : IW_NO_REASON);
		CHECK_EQ(s->asked_probe, may_probe);
		CHECK_EQ(s->unprobed_after, s->probe_due ? 0 : s->unprobed + 1);
	}
}

static uint64_t window_of(const struct tap_spin *s)
{
	uint64_t us = want.facts->config.max_spin_us, most = 2 * played.block_ns;
	uint64_t ns = played.block_ns * want.share / 64, limit = played.was.bins.v;

	if (most > (us ? us : 200) * 1000)
		most = (us ? us : 200) * 1000;
	if (s->limit_ns)
		return s->limit_ns < most ? s->limit_ns : most;
	if (want.preset == IPCWAIT_SPIN)
		return most;
	if (want.preset == IPCWAIT_HALTPOLL)
		return limit < 200000 ? limit : 200000;
	if (want.preset == IPCWAIT_TICKS)
		return 3000000 - (uint64_t)(s->begin + fake.step_ns) % 1000000;
	if (want.known)
		ns += want.delay_ns;
	if (ns > played.block_ns * 112 / 64)
		ns = played.block_ns * 112 / 64;
	return ns < most ? ns : most;
}

/* Of spins before that number. */
static uint64_t spun_before(unsigned n)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < n; i++)
		ns += NS(taps.spin[i].last - taps.spin[i].start);
	return ns;
}

/* One that was woken, and would not spin, does so for B if it is overdue. */
static uint64_t limit_after_wake(const struct played_sleep *sleep, unsigned i)
{
	int64_t patience_ns = 20 * (int64_t)(played.block_ns + spun_before(i));
	int64_t late_ns = sleep->end - expected_begin();

	if (played.script.rest.spin_ns || sleep->result || want.share ||
	    want.preset > IPCWAIT_POWER)
		return played.script.rest.spin_ns;
	late_ns -= patience_ns < 1000000 ? 1000000 : patience_ns;
	if (expected_within(late_ns, 0, 16 * 20))
		return taps.spin[i].limit_ns ? played.block_ns : 0;
	return late_ns > 0 ? played.block_ns : 0;
}

/* Of the one before the first sleep, of those after a timer, a sleep in vain. */
static void check_limit(unsigned i)
{
	const struct tap_spin *s = &taps.spin[i];
	const struct played_sleep *sleep = NULL;
	int64_t left_ns;

	for (unsigned k = 0; k < played.sleeps && played.sleep[k].spins <= i; k++)
		sleep = &played.sleep[k];
	if (!sleep) {
		CHECK_EQ(i, 0);
		CHECK_EQ(s->limit_ns, 0);
		return;
	}
	CHECK(played.script.rest.may_spin);
	if (!expected_timer(sleep) || sleep->result != -ETIMEDOUT) {
		CHECK_EQ(s->limit_ns, limit_after_wake(sleep, i));
		CHECK(s->limit_ns || want.share || want.preset > IPCWAIT_POWER);
		/* Only a wake, or a time of the primitive's own, is a sleep in vain. */
		CHECK(sleep->result == 0 || (sleep->result == -ETIMEDOUT && s->limit_ns));
		return;
	}
	left_ns = expected_begin() +
		  (int64_t)(want.delay_ns + want.sleep.sleep.until_ns - want.behind_ns) -
		  sleep->end;
	if (left_ns > (int64_t)want.sleep.spin_ns)
		left_ns = (int64_t)want.sleep.spin_ns;
	CHECK(s->why || expected_within((int64_t)s->limit_ns, left_ns, 8));
}

static void check_length(const struct tap_spin *s)
{
	bool deadline;
	uint64_t most = expected_ticks(s, &deadline), ticks = s->last - s->start;
	enum iw_reason why = expected_why(s);

	/* Looks go on until that time, and no longer. */
	if (why == IW_WINDOW_OVER || why == IW_DEADLINE)
		CHECK(ticks >= most);
	CHECK(why != IW_DEADLINE || (int64_t)NS(s->last) >= played.me.deadline_ns);
	CHECK(s->gap == 0 || ticks - s->gap < most);
	CHECK(s->looks >= 1 && (s->looks <= 2 || s->gap));
	/* None comes sooner than the primitive asks for. */
	CHECK(!s->gap || s->gap >= TICKS(played.me.apart_ns));
}

static void check_spins(void)
{
	CHECK(!taps.spins || !want.plan || want.plan == IW_LEARNED_LONG);
	if (want.earnest && !want.plan && played.seen_first == IW_AWAY)
		CHECK(taps.spins > 0 && taps.spin[0].limit_ns == 0);
	for (unsigned i = 0; i < taps.spins; i++) {
		const struct tap_spin *s = &taps.spin[i];

		check_admission(s);
		if (s->why) {
			CHECK_EQ(s->looks, 0);
			continue;
		}
		check_limit(i);
		CHECK_EQ(s->window_ns, window_of(s));
		check_length(s);
	}
}

static void spins_as_planned(void)
{
	expected_play(check_spins);
}

/* A spin in vain costs its time on the CPU, but where nothing is kept account of. */
static bool is_charged(const struct tap_spin *s)
{
	return !s->why && !expected_found(s) && s->last > s->start &&
	       want.preset <= IPCWAIT_POWER && !want.facts->dedicated;
}

static void check_charge(const struct tap_charge *c, const struct tap_spin *s)
{
	int32_t percent = want.facts->config.spin_budget_percent;
	uint64_t burst = TICKS(UINT64_C(1000000)), sum;

	CHECK_EQ(c->ticks, s->last - s->start - expected_lost(s));
	CHECK_EQ(c->now, s->last);
	CHECK_EQ(c->full_at, s->thread_full_at);
	if (percent < 0)
		percent = 5;
	if (percent == 0 || percent == 100) {
		CHECK_EQ(c->after, c->full_at);
		return;
	}
	sum = (c->ticks < burst ? c->ticks : burst) * 100 / (uint64_t)percent;
	burst = burst * 100 / (uint64_t)percent;
	sum += taps_ahead(c->full_at, c->now, burst);
	CHECK_EQ(c->after, c->now + (sum < 2 * burst ? sum : 2 * burst));
}

static void check_charges(void)
{
	uint64_t full_at = played.thread.credit_full_at;
	unsigned n = 0;

	for (unsigned i = 0; i < taps.spins; i++) {
		CHECK_EQ(taps.spin[i].thread_full_at, full_at);
		if (!is_charged(&taps.spin[i]))
			continue;
		CHECK(n < taps.charges && taps.charge[n].spin == i);
		check_charge(&taps.charge[n], &taps.spin[i]);
		full_at = taps.charge[n++].after;
	}
	CHECK_EQ(taps.charges, n);
	CHECK_EQ(played.after.credit_full_at, full_at);
}

static void charges_what_was_in_vain(void)
{
	expected_play(check_charges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(ends_as_it_must),          CHILD_TEST(counters_add_up),
		CHILD_TEST(people_are_told),          CHILD_TEST(spins_as_planned),
		CHILD_TEST(charges_what_was_in_vain),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	/* A mutant is one test's. */
	cmocka_set_test_filter(getenv("IW_TEST_ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
