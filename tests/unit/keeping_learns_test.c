/* SPDX-License-Identifier: MIT */
/*
 * The engine over generated waits (common/played.h): what each teaches about its length and about
 * what sleeps cost, and what it leaves in the thread's own data; and the same of wakes.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "common/expected.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "engine/wake.h"
#include "policy/cost.h"
#include "policy/mirror.h"

#define WAKES 5000

/* How the wait went on after its first looks. */
static bool went_to_sleep(void)
{
	return want.earnest && played.settles && !expected_at_deadline();
}

/* Something ended it besides what it waited for. */
static bool is_given_up(void)
{
	const struct played_sleep *s;

	if (!played.sleeps || played.sleep[played.sleeps - 1].result >= 0)
		return false;
	s = &played.sleep[played.sleeps - 1];
	if (s->result == -ETIMEDOUT)
		return s->deadline_ns == played.me.deadline_ns;
	return s->result != -EAGAIN && (s->result != -EINTR || played.me.interruptible);
}

static uint64_t usual_latency(uint64_t slept_ns)
{
	return played.latency_ns < slept_ns ? played.latency_ns : slept_ns;
}

/* How long before its end the waker stamped the object, or is thought to have woken it. */
static int64_t lateness(const struct played_sleep *s)
{
	if (s->result != 0)
		return 0;
	return s->stamp_at ? s->end - s->stamp_at
			   : (int64_t)usual_latency((uint64_t)(s->end - s->begin));
}

/* The last sleep, if no spin came after it. */
static const struct played_sleep *sleep_at_the_end(void)
{
	const struct played_sleep *s = &played.sleep[played.sleeps - 1];
	bool spun = false;

	if (!played.sleeps)
		return NULL;
	for (unsigned i = s->spins; i < taps.spins; i++)
		spun = spun || !taps.spin[i].why;
	return spun ? NULL : s;
}

/* When it was there, or the wait was given up. */
static int64_t ended_at(void)
{
	const struct played_sleep *s = sleep_at_the_end();

	if (s)
		return s->end - lateness(s);
	return taps.spins && !taps.spin[taps.spins - 1].why && played.sleeps
		       ? (int64_t)NS(taps.spin[taps.spins - 1].last)
		       : played.settled_at;
}

static bool is_dirty(void)
{
	return taps.spins && expected_dirty(&taps.spin[taps.spins - 1]);
}

/* The readings of the clock that belong to no part of the wait. */
static int64_t readings(void)
{
	return 4 + 6 * (played.sleeps + taps.spins);
}

static void check_slept(void)
{
	int64_t wait_ns = ended_at() - expected_begin();
	const struct tap_learned *l = &taps.learn[0];
	bool ended = !is_given_up();

	if (is_dirty()) {
		CHECK_EQ(taps.learned, 0);
		return;
	}
	if (taps.learned == 0) {
		CHECK(!ended &&
		      wait_ns < 2 * (int64_t)played.block_ns + readings() * fake.step_ns);
		return;
	}
	CHECK(taps.learned == 1 && l->slept && l->ended == ended);
	CHECK(expected_within((int64_t)l->wait_ns, wait_ns, readings()));
	CHECK(ended || l->wait_ns >= 2 * played.block_ns);
}

static void check_length(void)
{
	if (want.quick) {
		CHECK(taps.learned == 1 && !taps.learn[0].slept && !taps.learn[0].wait_ns);
	} else if (!want.earnest) {
		CHECK_EQ(taps.learned, 0);
	} else if (went_to_sleep()) {
		check_slept();
	} else {
		CHECK_EQ(taps.learned, played.result == 0 && !is_dirty());
		CHECK(!taps.learned || !taps.learn[0].slept);
		CHECK(!taps.learned ||
		      taps.learn[0].wait_ns == NS(taps.spin[0].last - taps.spin[0].start));
	}
}

static void learns_its_length(void)
{
	expected_play(check_length);
}

/* Of the waits of a known object that end while spinning one in eight counts for eight. */
static bool is_recorded(unsigned *n)
{
	*n = 1;
	if (!taps.learned || want.preset > IPCWAIT_POWER)
		return false;
	if (taps.learn[0].slept || !want.known)
		return true;
	*n = 8;
	return (played.thread.quick + 1) % 8 == 0;
}

static void check_limit(void)
{
	const struct tap_learned *l = &taps.learn[0];
	uint64_t limit = played.was.bins.v;

	if (want.preset == IPCWAIT_HALTPOLL && taps.learned && l->slept)
		limit = iw_haltpoll_next_ns(
			&want.facts->config.haltpoll, limit,
			l->wait_ns > l->spun_ns ? l->wait_ns - l->spun_ns : 0);
	CHECK_EQ(played.me.window->bins.v, limit);
}

/* The part that is its own doing left out, with what it came late added to a rhythm. */
static void check_record(void)
{
	const struct tap_learned *l = &taps.learn[0];
	const struct tap_record *r = &taps.record[0];
	uint64_t own_ns = l->wait_ns > want.delay_ns ? l->wait_ns - want.delay_ns : 0;
	bool rhythmic = l->slept && l->ended && want.preset == IPCWAIT_LATENCY;
	unsigned n;

	CHECK_EQ(taps.outcome.wait_ns, taps.learned ? l->wait_ns : 0);
	CHECK_EQ(taps.outcome.caused_ns,
		 taps.learned && l->slept ? l->wait_ns - own_ns : 0);
	CHECK_EQ(taps.records, is_recorded(&n));
	CHECK_EQ(taps.sites,
		 taps.records && (!want.known || played.thread.learned % 16 == 0));
	CHECK_EQ(played.after.learned,
		 played.thread.learned + (taps.records && want.known));
	if (want.preset > IPCWAIT_POWER)
		check_limit();
	if (!taps.records)
		return;
	CHECK_EQ(r->n, n);
	CHECK(!taps.sites || taps.site_bin == r->bin);
	CHECK_EQ(r->bin, want.quick ? 0 : iw_bin_of(own_ns, played.block_ns));
	CHECK_EQ(r->interval_ns, rhythmic ? own_ns + want.behind_ns : 0);
}

static void records_what_it_learned(void)
{
	expected_play(check_record);
}

/* Why the sleep was begun: a sleep that is to be measured is. */
static bool is_probe(const struct played_sleep *s)
{
	return s->spins && taps.spin[s->spins - 1].why == IW_PROBE;
}

static void check_timer(const struct played_sleep *s, unsigned *n)
{
	int64_t late_ns = s->end - lateness(s) - s->deadline_ns;

	if (!expected_timer(s) || s->result == -EAGAIN)
		return;
	/* Within a reading of its time it may be noted or not. */
	if (late_ns > 16 || (late_ns > -2 * fake.step_ns - 16 && *n < taps.timers)) {
		CHECK(*n < taps.timers);
		CHECK(expected_within((int64_t)taps.timer_ns[*n], late_ns, 2));
		++*n;
	}
}

/* One wake in four tells what a wake takes, and each that was slept for that. */
static void check_costs(void)
{
	uint32_t sleeps = played.thread.sleeps;
	unsigned latencies = 0, timers = 0;

	for (unsigned i = 0; want.earnest && i < played.sleeps; i++) {
		const struct played_sleep *s = &played.sleep[i];

		check_timer(s, &timers);
		if (s->result != 0 || !s->stamp_at)
			continue;
		if (sleeps++ % 4 != 0 && !is_probe(s))
			continue;
		CHECK(latencies < taps.latencies);
		CHECK(expected_within((int64_t)taps.latency_ns[latencies++],
				      s->end - s->stamp_at, 2));
	}
	CHECK_EQ(taps.latencies, latencies);
	CHECK_EQ(taps.timers, timers);
	CHECK_EQ(taps.wakers, 0);
	CHECK_EQ(played.after.sleeps, sleeps);
}

static void notes_what_was_measured(void)
{
	expected_play(check_costs);
}

static void check_lateness(void)
{
	const struct played_sleep *s = sleep_at_the_end();

	if (want.preset != IPCWAIT_LATENCY || want.polled || want.quick) {
		CHECK(played.after.late_on == played.thread.late_on);
		CHECK_EQ(played.after.late_ns, played.thread.late_ns);
		return;
	}
	CHECK(played.after.late_on == played.me.window);
	CHECK(expected_within((int64_t)played.after.late_ns,
			      s && want.earnest ? lateness(s) : 0, s ? readings() : 0));
}

static void check_thread(void)
{
	const struct iw_thread *was = &played.thread, *is = &played.after;
	bool looked_on = !want.polled && !want.quick;
	bool alone = want.plan == IW_RATIONED || want.plan == IW_ONE_CPU ||
		     want.plan == IW_SAME_CPU;

	check_lateness();
	CHECK_EQ(is->woke_at, want.earnest ? 0 : was->woke_at);
	CHECK_EQ(is->alone, looked_on && want.preset != IPCWAIT_BLOCK ? alone : was->alone);
	CHECK_EQ(is->wakes, was->wakes);
	CHECK(is->stamped == was->stamped);
	CHECK_EQ(fake.rseq_field, 0);
	if (!want.earnest)
		return;
	CHECK_EQ(played.me.delay_ns, want.delay_ns);
	CHECK_EQ(played.me.behind_ns, want.behind_ns);
	CHECK_EQ(played.me.block_ns, played.block_ns);
}

static void leaves_the_thread_as_it_must(void)
{
	expected_play(check_thread);
}

static int64_t wake_ns;

static void take_time(void)
{
	fake.now_ns += wake_ns;
}

/* One wake of up to some sleepers, of which that many are there. */
static void check_wake(uint32_t count, int sleepers, uint64_t stamped_at)
{
	static const uint32_t word;
	struct iw_thread was = iw_thread;
	struct ipcwait_kind_stats before = probe_counters();
	int woken = sleepers < (int)count ? sleepers : (int)count;
	bool learned = woken > 0 && stamped_at;
	bool timed = learned && (was.wakes < 4 || was.wakes % 4 == 0);
	uint64_t took_ns;

	taps_clear();
	fake.woken = sleepers;
	CHECK_EQ(iw_wake(IPCWAIT_KIND_SEM, &word, count, false, stamped_at), woken);
	took_ns = (uint64_t)fake.now_ns - stamped_at;
	CHECK_EQ(probe_counters().futex_wakes - before.futex_wakes, 1);
	CHECK_EQ(iw_thread.woke_at, learned ? stamped_at : was.woke_at);
	CHECK_EQ(iw_thread.wakes, was.wakes + learned);
	CHECK_EQ(taps.wakers, timed);
	if (timed)
		CHECK_EQ(taps.waker_ns[0], took_ns / (unsigned)woken);
}

/* What a wake took is shared by those it woke. Who is alone with its sleepers learns nothing. */
static void wakes_are_measured(void)
{
	uint64_t seed = check_seed();

	played_begin();
	played_world(&seed);
	fake.on_wake = take_time;
	for (unsigned i = 0; i < WAKES; i++) {
		struct ipcwait_window *w = &played.window[i % 2];
		uint64_t stamped_at;

		iw_thread.wakes = (uint32_t)played_any(&seed, 12);
		iw_thread.alone = played_any(&seed, 4) == 0;
		iw_thread.woke_at = played_any(&seed, 2) ? 0 : 4711;
		fake.cpu = (unsigned)played_any(&seed, 4);
		wake_ns = (int64_t)played_any(&seed, 100000);
		stamped_at = iw_stamp(w);
		CHECK_EQ(stamped_at, iw_thread.alone ? 0 : fake.now_ns);
		CHECK(iw_thread.stamped == w);
		CHECK_EQ(iw_state_waker_cpu(iw_window_state(w)), fake.cpu + 1);
		CHECK(iw_stamp_fresh(w));
		check_wake(1 + (uint32_t)played_any(&seed, 40),
			   (int)played_any(&seed, 42) - 1, stamped_at);
		/* It is doubted after a millisecond. */
		fake.now_ns += 1000100;
		CHECK(!iw_stamp_fresh(w));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(learns_its_length),
		CHILD_TEST(records_what_it_learned),
		CHILD_TEST(notes_what_was_measured),
		CHILD_TEST(leaves_the_thread_as_it_must),
		CHILD_TEST(wakes_are_measured),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	/* A mutant is one test's. */
	cmocka_set_test_filter(getenv("IW_TEST_ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
