/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "common/check.h"
#include "common/expected.h"
#include "common/fake_os.h"
#include "policy/policy.h"
#include "policy/sites.h"

#define WORLDS 150
#define WAITS  30

/* What the plan of the wait must be, by what was there before it. */
struct expected want;

bool expected_deadline(void)
{
	return played.me.deadline_ns != IPCWAIT_FOREVER;
}

static enum iw_reason lacks_cpu(uint32_t state)
{
	uint32_t waker = state >> 16;
	bool beside = waker == fake.cpu + 1;

	if (want.facts->quota_hundredths && want.facts->quota_hundredths < 150)
		return IW_RATIONED;
	if (want.facts->cpus == 1 && (waker == 0 || beside))
		return IW_ONE_CPU;
	if (beside && want.preset < IPCWAIT_SPIN &&
	    played.thread.stamped != played.me.window)
		return IW_SAME_CPU;
	return IW_NO_REASON;
}

static enum iw_reason planned(uint32_t state)
{
	enum iw_reason why;

	if (want.preset == IPCWAIT_BLOCK)
		return IW_PRESET_BLOCK;
	why = lacks_cpu(state);
	if (why || want.preset > IPCWAIT_POWER)
		return why;
	return want.share ? IW_NO_REASON : IW_LEARNED_LONG;
}

/* To be called before the wait, for what other waits have taught changes with it. */
static void expect_share(void)
{
	const struct iw_site site = { played.me.site, IPCWAIT_KIND_SEM };
	uint32_t state = iw_window_state(played.me.window);

	want.known = iw_state_known(state);
	want.share = want.known ? iw_state_share(state)
				: iw_window_young_share(played.me.window,
							iw_sites_before(&iw_sites, site));
}

static uint64_t own_delay(void)
{
	int64_t now_ns = played.begin + (expected_deadline() ? 2 : 1) * fake.step_ns;
	int64_t awake_at = (int64_t)(played.thread.woke_at + played.lateness_ns);

	return played.thread.woke_at && awake_at > now_ns ? (uint64_t)(awake_at - now_ns)
							  : 0;
}

static void expect(void)
{
	uint32_t state = played.was.state.v;
	uint64_t spun_ns;
	bool looks;

	want.facts = iw_facts();
	want.preset = iw_policy_preset(want.facts, state);
	want.plan = planned(state);
	want.polled =
		expected_deadline() && played.me.deadline_ns <= played.begin + fake.step_ns;
	looks = !want.polled && !played.thread.alone && want.preset != IPCWAIT_BLOCK &&
		(!want.known || iw_state_share(state) || want.preset > IPCWAIT_POWER);
	if (!want.polled && (!looks || played.me.apart_ns))
		CHECK_EQ(played.looks_first, 0);
	else if (!want.polled && played.seen_first == IW_AWAY)
		CHECK_EQ(played.looks_first, 4);
	want.quick = looks && !played.me.apart_ns && played.looks_first &&
		     played.seen_first == IW_THERE;
	want.earnest =
		!want.polled && !want.quick && (!want.plan || want.plan == IW_LEARNED_LONG);
	want.delay_ns = want.earnest ? own_delay() : 0;
	want.behind_ns = want.earnest && want.preset == IPCWAIT_LATENCY &&
					 played.thread.late_on == played.me.window
				 ? played.thread.late_ns
				 : 0;
	spun_ns = taps.spins && (!played.sleeps || played.sleep[0].spins)
			  ? NS(taps.spin[0].last - taps.spin[0].start)
			  : 0;
	want.timed = want.earnest && want.preset == IPCWAIT_LATENCY &&
		     played.me.what->resumable &&
		     iw_window_timed(&played.was, spun_ns, played.block_ns, &played.timer,
				     &want.sleep);
}

/* A spin that found it, and with it the end of the wait. */
bool expected_found(const struct tap_spin *s)
{
	return s->looks && s->seen == IW_THERE;
}

static bool off_cpu(const struct tap_spin *s)
{
	return s->gap >= TICKS(played.me.apart_ns + 10000) &&
	       (s->disturbed || s->gap >= TICKS(200000));
}

/* Ticks until the end of the spin: its window, or what is left until the deadline. */
uint64_t expected_ticks(const struct tap_spin *s, bool *deadline)
{
	int64_t left_ns = 0;

	*deadline = false;
	if (!expected_deadline())
		return TICKS(s->window_ns);
	/* The clock is read once more, for this. */
	left_ns = played.me.deadline_ns - s->read_at;
	if (left_ns < 0)
		left_ns = 0;
	*deadline = (uint64_t)left_ns < s->window_ns;
	return TICKS(*deadline ? (uint64_t)left_ns : s->window_ns);
}

/* Why a spin ended in vain. */
enum iw_reason expected_why(const struct tap_spin *s)
{
	bool deadline;

	if (s->why || expected_found(s))
		return s->why;
	if (off_cpu(s))
		return s->disturbed ? IW_PREEMPTED : IW_STOLEN;
	if (s->seen != IW_AWAY)
		return s->seen == IW_AWAY_CROWDED ? IW_CROWDED : IW_OVERTAKEN;
	(void)expected_ticks(s, &deadline);
	return deadline ? IW_DEADLINE : IW_WINDOW_OVER;
}

/* Ticks off its CPU at the end of a spin in vain. */
uint64_t expected_lost(const struct tap_spin *s)
{
	enum iw_reason why = expected_why(s);

	return why == IW_PREEMPTED || why == IW_STOLEN ? s->gap : 0;
}

/* It ended at its deadline without a sleep. */
bool expected_at_deadline(void)
{
	return taps.spins == 1 && !played.sleeps &&
	       expected_why(&taps.spin[0]) == IW_DEADLINE;
}

/* Waits of every kind, each looked at by @check. */
void expected_play(void (*check)(void))
{
	uint64_t seed = check_seed();

	played_begin();
	for (unsigned w = 0; w < WORLDS; w++) {
		played_world(&seed);
		for (unsigned i = 0; i < WAITS; i++) {
			played_draw(&seed);
			expect_share();
			played_wait();
			expect();
			check();
		}
	}
}

bool expected_within(int64_t is, int64_t want_ns, int64_t readings)
{
	return llabs(is - want_ns) <= readings * fake.step_ns + 16;
}

/* A timer of the engine's was to end the sleep. */
bool expected_timer(const struct played_sleep *s)
{
	return s->published && s->deadline_ns < played.me.deadline_ns &&
	       s->deadline_ns < s->until_ns;
}

bool expected_dirty(const struct tap_spin *s)
{
	return expected_found(s) && off_cpu(s);
}

int64_t expected_begin(void)
{
	bool spun = taps.spins && (!played.sleeps || played.sleep[0].spins);

	if (spun && !taps.spin[0].why)
		return (int64_t)NS(taps.spin[0].start);
	return played.sleeps ? played.sleep[0].begin : played.settled_at;
}
