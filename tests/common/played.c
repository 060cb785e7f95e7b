/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "common/fake_os.h"
#include "common/played.h"
#include "common/probe.h"
#include "engine/wake.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "policy/sites.h"
#include "policy/window.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* A stamp is as exact as that: one put sooner may seem to be older than the sleep. */
#define STAMP_NS 16

/* Waits come from two of those, or from nowhere. */
#define PLACE 0x1000

struct played played;

static uint32_t word;

uint64_t played_any(uint64_t *seed, uint64_t n)
{
	return check_random(seed) % n;
}

static bool one_in(uint64_t *seed, uint64_t n)
{
	return played_any(seed, n) == 0;
}

/* Any length below @most, short ones as often as long ones. */
static int64_t any_length(uint64_t *seed, int64_t most)
{
	int64_t below = most >> played_any(seed, 12);

	return (int64_t)played_any(seed, (uint64_t)(below > 0 ? below : 1));
}

uint64_t fake_ticks(void)
{
	const struct script *s = &played.script;

	fake.now_ns += fake.step_ns;
	if (taps.in_spin && s->lose_after && played.looks >= s->lose_after) {
		played.script.lose_after = 0;
		fake.now_ns += s->lose_ns;
		if (s->to_the_kernel)
			fake.rseq_field = 0;
	}
	if (taps.in_spin)
		taps.spin[taps.spins - 1].read =
			(uint64_t)fake.now_ns * PLAYED_TICKS_PER_NS;
	return (uint64_t)fake.now_ns * PLAYED_TICKS_PER_NS;
}

static bool is_there(void)
{
	return fake.now_ns >= played.script.there_at;
}

static void take(enum played_taken by)
{
	CHECK_EQ(played.taken, NOT_TAKEN);
	played.taken = by;
	played.taken_at = fake.now_ns;
}

static void note_look(struct tap_spin *spin, enum iw_seen seen)
{
	/* After any other answer it does not look on. */
	CHECK_EQ(spin->seen, IW_AWAY);
	spin->looks++;
	spin->seen = seen;
	spin->disturbed = iw_rseq_disturbed();
	if (spin->read != spin->last)
		spin->gap = spin->read - spin->last;
	spin->last = spin->read;
}

static enum iw_seen look(struct iw_waiter *me)
{
	enum iw_seen seen = is_there() ? IW_THERE : IW_AWAY;

	(void)me;
	played.withdrawn = played.nothing_to_withdraw;
	if (++played.looks > played.script.away_after && seen == IW_AWAY)
		seen = played.script.away;
	if (taps.in_spin)
		note_look(&taps.spin[taps.spins - 1], seen);
	if (played.first && !taps.spins) {
		CHECK_EQ(played.seen_first, IW_AWAY);
		played.looks_first++;
		played.seen_first = seen;
	}
	if (seen == IW_THERE)
		take(BY_LOOK);
	return seen;
}

static struct iw_rest settle(struct iw_waiter *me)
{
	struct iw_rest rest = played.script.rest;

	(void)me;
	taps.in_spin = played.first = false;
	played.settles++;
	played.withdrawn = false;
	played.settled_at = fake.now_ns;
	if (is_there()) {
		take(BY_SETTLE);
		return iw_rest_taken();
	}
	if (played.script.full)
		rest.word = NULL;
	if (played.script.until_ns)
		rest.until_ns = fake.now_ns + played.script.until_ns;
	played.sleep[played.sleeps].until_ns = rest.until_ns;
	fake.now_ns += played.script.settle_ns;
	return rest;
}

static bool withdraw(struct iw_waiter *me)
{
	(void)me;
	taps.in_spin = played.first = false;
	played.withdraws++;
	played.withdrawn = true;
	if (is_there())
		take(BY_WITHDRAW);
	return is_there();
}

static void stamp(unsigned cpu)
{
	unsigned here = fake.cpu;
	int64_t step_ns = fake.step_ns;

	fake.step_ns = 0;
	fake.cpu = cpu;
	iw_window_put_stamp(played.me.window, (uint64_t)fake.now_ns, cpu);
	played.sleep[played.sleeps].stamp_at = fake.now_ns;
	fake.cpu = here;
	fake.step_ns = step_ns;
}

static int event(enum played_event what)
{
	switch (what) {
	case SIGNALLED:
		return -EINTR;
	case BROKEN:
		return -EINVAL;
	case STAMPED_IN_VAIN:
		stamp(played.script.cpu);
		break;
	default:
		break;
	}
	if (played.script.soon_ns)
		played.script.there_at =
			fake.now_ns + played.script.late_ns + played.script.soon_ns;
	return 0;
}

/* Whichever comes first: what it waits for, an event of the script, the time that it was told. */
static int sleep_until_something(struct played_sleep *s, enum played_event what,
				 int64_t event_at)
{
	int64_t wake_at = s->published ? played.script.there_at : IPCWAIT_FOREVER;

	if (what == REFUSED || (s->published && is_there()))
		return -EAGAIN;
	if (what != NOTHING && event_at < wake_at && event_at < s->deadline_ns) {
		fake.now_ns = event_at;
		return event(what);
	}
	if (wake_at <= s->deadline_ns ||
	    wake_at <= s->deadline_ns + played.script.slack_ns) {
		fake.now_ns = wake_at;
		if (played.script.stamps)
			stamp(played.script.cpu);
		return 0;
	}
	CHECK(s->deadline_ns != IPCWAIT_FOREVER);
	if (fake.now_ns < s->deadline_ns)
		fake.now_ns = s->deadline_ns;
	return -ETIMEDOUT;
}

static int sleeps(const struct fake_call *call)
{
	struct played_sleep *s = &played.sleep[played.sleeps];
	enum played_event what = NOTHING;
	int64_t after_ns = 0;

	CHECK(played.sleeps < PLAYED_SLEEPS);
	taps.in_spin = played.first = false;
	if (played.sleeps < 3) {
		what = played.script.event[played.sleeps].what;
		after_ns = played.script.event[played.sleeps].after_ns;
	}
	*s = (struct played_sleep){
		.begin = fake.now_ns,
		.deadline_ns = call->deadline_ns,
		.until_ns = s->until_ns,
		.published = call->word == &word,
		.spins = taps.spins,
	};
	if (!is_there() && played.script.there_at < s->begin + STAMP_NS)
		played.script.there_at = s->begin + STAMP_NS;
	s->result = sleep_until_something(s, what, s->begin + after_ns);
	if (s->result != -EAGAIN)
		fake.now_ns += played.script.late_ns;
	s->end = fake.now_ns;
	played.sleeps++;
	return s->result;
}

static struct iw_waitable what = { .kind = IPCWAIT_KIND_SEM,
				   .look = look,
				   .settle = settle };

static struct iw_facts *facts(void)
{
	return (struct iw_facts *)iw_facts();
}

void played_begin(void)
{
	fake_reset();
	fake.counter_trusted = true;
	/* An uptime, to look back on. */
	fake.now_ns = 100000 * MS;
	CHECK(facts()->rate.counter);
	facts()->rate =
		(struct iw_tick_rate){ true, (UINT64_C(1) << 32) / PLAYED_TICKS_PER_NS,
				       (UINT64_C(1) << 32) * PLAYED_TICKS_PER_NS };
	fake.on_wait = sleeps;
}

static void draw_facts(uint64_t *seed)
{
	static const uint32_t cpus[] = { 1, 2, 2, 2, 8 }, quotas[] = { 0, 0, 0, 149, 150 },
			      most_us[] = { 0, 0, 0, 1, 20, 100000 };
	static const int32_t percent[] = { -1, -1, -1, 5, 20, 99, 100, 0, 1 };
	struct iw_facts *f = facts();

	f->cpus = PLAYED_ONE_OF(seed, cpus);
	f->quota_hundredths = PLAYED_ONE_OF(seed, quotas);
	f->dedicated = one_in(seed, 4);
	f->config.spin_budget_percent = PLAYED_ONE_OF(seed, percent);
	f->config.max_spin_us = PLAYED_ONE_OF(seed, most_us);
	f->observed = true;
	f->config.preset = one_in(seed, 6) ? (enum ipcwait_preset)played_any(seed, 8)
					   : IPCWAIT_INHERIT;
}

/* Waits of a millisecond each, more or less. */
static void teach_rhythm(uint64_t *seed, struct ipcwait_window *w)
{
	int64_t jitter = any_length(seed, 80 * US);

	for (unsigned i = 0; i < 40; i++)
		iw_window_record(w, IW_BIN_LONG, 1,
				 (uint64_t)(1 * MS + (i % 2 ? jitter : -jitter)));
}

static void draw_window(uint64_t *seed, struct ipcwait_window *w)
{
	static const enum ipcwait_preset presets[] = {
		IPCWAIT_INHERIT, IPCWAIT_ADAPTIVE, IPCWAIT_ADAPTIVE, IPCWAIT_LATENCY,
		IPCWAIT_LATENCY, IPCWAIT_LATENCY,  IPCWAIT_POWER,    IPCWAIT_SPIN,
		IPCWAIT_BLOCK,   IPCWAIT_HALTPOLL, IPCWAIT_TICKS
	};
	unsigned waits = (unsigned)played_any(seed, 30),
		 bin = (unsigned)played_any(seed, 9);

	*w = (struct ipcwait_window){ 0 };
	CHECK_EQ(ipcwait_window_set_preset(w, PLAYED_ONE_OF(seed, presets)), 0);
	if (iw_state_preset(iw_window_state(w)) == IPCWAIT_LATENCY && one_in(seed, 2))
		teach_rhythm(seed, w);
	while (waits--)
		iw_window_record(w, bin < 8 ? bin : (unsigned)played_any(seed, 8), 1,
				 (uint64_t)MS);
	if (one_in(seed, 2))
		iw_window_put_stamp(w, (uint64_t)(fake.now_ns - 5 * MS),
				    (unsigned)played_any(seed, 2));
}

void played_world(uint64_t *seed)
{
	static const uint64_t latencies[] = { 2000, 20000, 50000 };
	static const uint64_t timers[] = { 5000, 60000, 98000, 200000 };
	uint64_t latency_ns = PLAYED_ONE_OF(seed, latencies);
	uint64_t timer_ns = PLAYED_ONE_OF(seed, timers);

	fake.now_ns += any_length(seed, 300 * MS);
	fake.step_ns = (int64_t)(20 + played_any(seed, 200));
	memset(&iw_thread, 0, sizeof(iw_thread));
	memset(&iw_sites, 0, sizeof(iw_sites));
	for (int i = 0; i < 160; i++) {
		iw_cost_note_latency(i % 4 ? latency_ns : latency_ns * 3 / 2);
		iw_cost_note_waker(latency_ns / 2);
		iw_cost_note_timer(timer_ns);
	}
	for (uint64_t n = played_any(seed, 60), bin = played_any(seed, 9); n > 0; n--)
		iw_sites_record(
			&iw_sites,
			(struct iw_site){ played_any(seed, 3) * PLACE, IPCWAIT_KIND_SEM },
			(unsigned)(bin < 8 ? bin : played_any(seed, 8)));
	draw_facts(seed);
	draw_window(seed, &played.window[0]);
	draw_window(seed, &played.window[1]);
}

static void draw_thread(uint64_t *seed)
{
	struct iw_thread *t = &iw_thread;
	uint64_t now = (uint64_t)fake.now_ns;

	t->alone = one_in(seed, 4);
	t->woke_at = one_in(seed, 2) ? 0 : now - (uint64_t)any_length(seed, 60 * US);
	t->stamped = one_in(seed, 2) ? &played.window[one_in(seed, 2)] : NULL;
	t->late_on = &played.window[one_in(seed, 3)];
	t->late_ns = (uint64_t)any_length(seed, 100 * US);
	t->learned = (uint32_t)played_any(seed, 32);
	t->quick = (uint32_t)played_any(seed, 32);
	if (one_in(seed, 4))
		t->unprobed =
			(uint32_t)(8 * played_any(seed, 12) + 6 + played_any(seed, 2));
	/* Another thread, or one with debts. */
	if (one_in(seed, 4))
		t->credit_full_at = 0;
	if (one_in(seed, 8))
		t->credit_full_at =
			(now + (uint64_t)any_length(seed, 50 * MS)) * PLAYED_TICKS_PER_NS;
}

static void draw_course(uint64_t *seed, struct script *s)
{
	static const enum iw_seen seen[] = { IW_AWAY, IW_AWAY,         IW_AWAY,
					     IW_AWAY, IW_AWAY_CROWDED, IW_AWAY_OVERTAKEN };
	static const int64_t losses[] = { 9 * US, 12 * US, 150 * US, 250 * US, 5 * MS };

	*s = (struct script){
		.there_at = fake.now_ns + any_length(seed, 4 * MS),
		.stamps = !one_in(seed, 3),
		.cpu = (unsigned)played_any(seed, 2),
		.late_ns = any_length(seed, 120 * US),
		.away = PLAYED_ONE_OF(seed, seen),
		.away_after = (unsigned)played_any(seed, 40),
		.rest = iw_rest_on(&word, 0),
		.full = one_in(seed, 12),
	};
	for (unsigned i = 0; i < 3 && one_in(seed, 2); i++) {
		s->event[i].what = (enum played_event)played_any(seed, 6);
		s->event[i].after_ns = STAMP_NS + any_length(seed, 400 * US);
	}
	if (one_in(seed, 3))
		s->there_at = fake.now_ns + 1 * MS - (int64_t)played_any(seed, 250 * US);
	if (one_in(seed, 6)) {
		s->lose_after = 5 + (unsigned)played_any(seed, 50);
		s->lose_ns = PLAYED_ONE_OF(seed, losses);
		s->to_the_kernel = one_in(seed, 2);
	}
	s->soon_ns = one_in(seed, 2) ? 1 + any_length(seed, 60 * US) : 0;
	s->slack_ns = one_in(seed, 4) ? s->late_ns : 0;
	s->settle_ns = one_in(seed, 2) ? 3 * fake.step_ns : 0;
	s->rest.may_spin = !one_in(seed, 4);
	s->rest.spin_ns = one_in(seed, 4) ? (uint64_t)any_length(seed, 300 * US) : 0;
	s->rest.bits = one_in(seed, 4) ? 4 : 0;
	s->until_ns = one_in(seed, 6) ? 600 * US + any_length(seed, 4 * MS) : 0;
}

/* A wait that is expected to last a millisecond, and lasts about that. */
static void draw_regular(uint64_t *seed, struct ipcwait_window *w, struct script *s)
{
	if (iw_policy_preset(iw_facts(), iw_window_state(w)) != IPCWAIT_LATENCY)
		return;
	teach_rhythm(seed, w);
	s->there_at = fake.now_ns + 1 * MS - (int64_t)played_any(seed, 250 * US) + 50 * US;
}

/* None, past, or any: as long as its readings of the clock, as its spin, as the wait. */
static int64_t draw_deadline(uint64_t *seed)
{
	int64_t there_at = played.script.there_at, near = (int64_t)played_any(seed, 500);

	switch (played_any(seed, 8)) {
	case 0:
		return fake.now_ns - near;
	case 1:
		there_at = fake.now_ns + (int64_t)played_any(seed, 20) * fake.step_ns;
		played.script.there_at = there_at;
		return there_at - (int64_t)played_any(seed, 8) * fake.step_ns + near / 250;
	case 2:
		return fake.now_ns + (int64_t)played_any(seed, 200) * US;
	case 3:
		return there_at + near - 250;
	case 4:
		return fake.now_ns + any_length(seed, 4 * MS);
	default:
		return IPCWAIT_FOREVER;
	}
}

void played_draw(uint64_t *seed)
{
	static const uint64_t apart[] = { 0, 0, 0, 0, 300, 1000 };
	unsigned object = (unsigned)one_in(seed, 3);

	fake.now_ns += one_in(seed, 6) ? 21 * MS : any_length(seed, 10 * MS);
	iw_rseq_offset = 0;
	if (!one_in(seed, 4))
		iw_rseq_offset = (ptrdiff_t)((uintptr_t)&fake.rseq_field -
					     (uintptr_t)iw_arch_thread_pointer());
	draw_thread(seed);
	draw_course(seed, &played.script);
	if (one_in(seed, 4))
		draw_regular(seed, &played.window[object], &played.script);
	what.resumable = !one_in(seed, 4);
	played.nothing_to_withdraw = one_in(seed, 4);
	what.withdraw = played.nothing_to_withdraw ? NULL : withdraw;
	played.me = (struct iw_waiter){
		.what = &what,
		.window = &played.window[object],
		.futex = &word,
		.deadline_ns = draw_deadline(seed),
		.site = played_any(seed, 3) * PLACE,
		.apart_ns = PLAYED_ONE_OF(seed, apart),
	};
}

void played_wait(void)
{
	struct ipcwait_stats before = probe_stats();
	uint32_t state = iw_window_state(played.me.window);

	taps_clear();
	played.was = *played.me.window;
	played.thread = iw_thread;
	played.sleeps = played.looks = played.settles = played.withdraws = 0;
	played.looks_first = 0;
	played.seen_first = IW_AWAY;
	played.first = true;
	played.withdrawn = false;
	played.taken = NOT_TAKEN;
	played.latency_ns = iw_cost_latency_ns(iw_facts());
	played.lateness_ns = iw_cost_lateness_ns(iw_facts());
	played.block_ns = iw_cost_block_ns(iw_facts(), iw_policy_preset(iw_facts(), state));
	played.timer = iw_policy_timer(iw_facts(), played.block_ns);
	played.begin = fake.now_ns;
	played.result = iw_wait(&played.me);
	played.end = fake.now_ns;
	played.after = iw_thread;
	played.why = probe_why(&before);
	played.counted = probe_counted(&before);
}
