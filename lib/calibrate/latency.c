/* SPDX-License-Identifier: MIT */
/*
 * What sleeping costs: a thread goes to sleep on a futex again and again, and another on its
 * own CPU wakes it when it has been asleep for so long.
 *
 *   sleeper   tells `ready` n + 1, sleeps while `turn` is n, notes how late it is
 *   waker     awaits `ready` n + 1, lets it get old, stamps, tells `turn` n + 1, wakes
 */
#include <errno.h>

#include <ipcwait/base.h>

#include "os/usage.h"
#include "calibrate/phases.h"

/* From this idle age on a slice is short, so that a calibration is: four of 10 ms take 40. */
#define LONG_NS 2000000

/*
 * Rounds of a slice: some to get code and lines into the cache and the idle governors of guest
 * and host used to the new age, which takes them a few wakes; those that are wanted; and more
 * if some of these are discarded.
 */
struct rounds {
	unsigned warm_up, wanted, most;
};

static const struct rounds short_rounds = { 4, IW_SLICE, 4 + IW_SLICE + 4 };
static const struct rounds long_rounds = { 1, 6, 1 + 6 };
static const struct rounds plain_rounds = { 0, 16, 16 };

#define ROUNDS_MOST 16

/* Samples of the sleeper's CPU time in a slice: each is a mean over plain_rounds. */
#define SLEEPER_SAMPLES 3
#define PLAIN_NS        50000

/* Told as turn when there is no further round. */
#define STOP UINT32_MAX

/*
 * How often the hypervisor's steal time is read, in ns: 14 us a reading, and a tick of it
 * spoils the samples since the last reading.
 */
#define STEAL_EVERY_NS 2000000

/* How much older than planned a sleep may be, in ns: or else the waker was held up. */
#define OVERDUE_NS 20000

struct note {
	uint64_t late_ns;  /* the sleeper's */
	uint64_t waker_ns; /* the waker's */
	bool sleeper_clean, waker_clean, stolen;
};

struct wake_phase {
	struct iw_team team;
	const struct rounds *plan;
	uint64_t idle_ns;
	bool plain; /* the sleeper makes no system calls but to sleep */
	struct note note[ROUNDS_MOST];
	unsigned rounds;         /* complete ones */
	uint64_t sleeper_cpu_ns; /* over all rounds */
	bool sleeper_undisturbed;
	struct ipcwait_word64 stamp; /* ticks when the wake began */
	struct iw_team_word ready, turn;
};

/*
 * Until it is no longer round @n's turn. True if exactly one sleep did that. Without a
 * deadline, since setting a timer would cost a guest two exits to its hypervisor; the waker
 * wakes in any case, if only to stop.
 */
static bool sleep_through(struct wake_phase *p, uint32_t n)
{
	bool once = false;

	for (unsigned sleeps = 0; iw_team_look(&p->turn) == n; sleeps++) {
		int r = iw_futex_wait(&p->turn.word.v, n, IPCWAIT_FOREVER, true);

		if (r < 0 && r != -EAGAIN && r != -EINTR) {
			iw_team_fail(&p->team, -r);
			return false;
		}
		once = r == 0 && sleeps == 0;
	}
	return once;
}

/* One round of the sleeper; false if it was the last. */
static bool sleep_once(struct wake_phase *p, uint32_t n, uint64_t *preempted)
{
	uint64_t now, before = *preempted;
	struct note *note = &p->note[n];
	bool slept;

	iw_team_tell(&p->ready, n + 1);
	slept = sleep_through(p, n);
	now = iw_tick_now(&p->team.rate);
	if (iw_team_look(&p->turn) != n + 1)
		return false;
	if (!p->plain)
		*preempted = iw_usage_preemptions();
	/* ORD latency.X1: relaxed, protected by the release of turn. */
	now -= ipcwait_impl_load64_relaxed(&p->stamp);
	note->late_ns = iw_tick_to_ns(&p->team.rate, now);
	note->sleeper_clean = slept && *preempted == before;
	return true;
}

static void sleep_often(void *arg)
{
	struct wake_phase *p = arg;
	uint64_t preempted = iw_usage_preemptions(), first = preempted;
	uint64_t cpu_ns = iw_usage_cpu_ns();
	uint32_t n = 0;

	while (sleep_once(p, n, &preempted))
		n++;
	p->sleeper_cpu_ns = iw_usage_cpu_ns() - cpu_ns;
	p->sleeper_undisturbed = iw_usage_preemptions() == first;
}

/*
 * Let the sleeper sleep for its time. True if it was not much more; a counter that jumps back
 * looks like very much more.
 */
static bool let_age(const struct wake_phase *p)
{
	const struct iw_tick_rate *rate = &p->team.rate;
	uint64_t start = iw_tick_now(rate), age = iw_tick_from_ns(rate, p->idle_ns), aged;

	do {
		iw_pause();
		aged = iw_tick_now(rate) - start;
	} while (aged < age);
	return aged - age < iw_tick_from_ns(rate, OVERDUE_NS);
}

/* A waker that was preempted while it waited and is back in time does no harm. */
static void wake_once(struct wake_phase *p, uint32_t n)
{
	const struct iw_tick_rate *rate = &p->team.rate;
	bool timely = let_age(p);
	uint64_t preempted = iw_usage_preemptions(), start = iw_tick_now(rate);
	struct note *note = &p->note[n];
	int woken;

	/* ORD latency.X2: relaxed, protected by the release of turn. */
	ipcwait_impl_store64_relaxed(&p->stamp, start);
	iw_team_tell(&p->turn, n + 1);
	woken = iw_futex_wake(&p->turn.word.v, 1, true);
	note->waker_ns = iw_tick_to_ns(rate, iw_tick_now(rate) - start);
	note->waker_clean = timely && woken == 1 && iw_usage_preemptions() == preempted;
}

static bool clean(const struct wake_phase *p, unsigned n)
{
	const struct note *note = &p->note[n];

	return n >= p->plan->warm_up && note->sleeper_clean && note->waker_clean &&
	       !note->stolen;
}

static bool enough(const struct wake_phase *p, unsigned rounds)
{
	unsigned good = 0;

	for (unsigned i = 0; i < rounds; i++)
		good += clean(p, i);
	return good >= p->plan->wanted;
}

/* What the hypervisor has taken, and up to which round that is accounted for. */
struct steal {
	uint64_t ticks, read_at;
	unsigned judged;
};

static void judge_steal(struct wake_phase *p, struct steal *s, unsigned rounds, bool last)
{
	uint64_t now = iw_tick_now(&p->team.rate), ticks;

	if (!last && now - s->read_at < iw_tick_from_ns(&p->team.rate, STEAL_EVERY_NS))
		return;
	ticks = iw_usage_steal(p->team.cpu[0], p->team.cpu[1]);
	for (; s->judged < rounds; s->judged++)
		p->note[s->judged].stolen = ticks != s->ticks;
	s->ticks = ticks;
	s->read_at = now;
}

/* When the sleeper is ready for round n, the notes of all rounds before are complete. */
static void wake_often(void *arg)
{
	struct wake_phase *p = arg;
	struct steal steal = {
		.ticks = iw_usage_steal(p->team.cpu[0], p->team.cpu[1]),
		.read_at = iw_tick_now(&p->team.rate),
	};
	uint32_t n = 0;

	while (iw_team_await(&p->team, &p->ready, n + 1) && n < p->plan->most &&
	       !enough(p, n)) {
		wake_once(p, n);
		judge_steal(p, &steal, ++n, false);
	}
	iw_team_tell(&p->turn, STOP);
	(void)iw_futex_wake(&p->turn.word.v, 1, true);
	judge_steal(p, &steal, n, true);
	p->rounds = n;
}

static int run(const struct iw_place *at, struct wake_phase *p)
{
	p->team = iw_place_team(at);
	return iw_team_run(&p->team, wake_often, sleep_often, p);
}

static const struct rounds *plan_for(uint64_t idle_ns)
{
	return idle_ns < LONG_NS ? &short_rounds : &long_rounds;
}

uint64_t iw_measure_wakes_planned_ns(uint64_t idle_ns)
{
	const struct rounds *plan = plan_for(idle_ns);

	return (plan->warm_up + plan->wanted) * idle_ns;
}

int iw_measure_wakes(const struct iw_place *at, uint64_t idle_ns, struct iw_series *late,
		     struct iw_series *waker)
{
	struct wake_phase p = { .plan = plan_for(idle_ns), .idle_ns = idle_ns };
	int r = run(at, &p);

	for (unsigned i = p.plan->warm_up; i < p.rounds; i++) {
		iw_series_add(late, p.note[i].late_ns, clean(&p, i));
		iw_series_add(waker, p.note[i].waker_ns, clean(&p, i));
	}
	return r;
}

int iw_measure_sleeper(const struct iw_place *at, struct iw_series *ns)
{
	int r = 0;

	for (unsigned i = 0; i < SLEEPER_SAMPLES && !r; i++) {
		struct wake_phase p = {
			.plan = &plain_rounds,
			.idle_ns = PLAIN_NS,
			.plain = true,
		};

		r = run(at, &p);
		iw_series_add(ns, p.sleeper_cpu_ns / (p.rounds + 1), p.sleeper_undisturbed);
	}
	return r;
}
