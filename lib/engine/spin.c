/* SPDX-License-Identifier: MIT */
#include "env/facts.h"
#include "os/seam.h"
#include "engine/admit.h"
#include "policy/budget.h"
#include "policy/harm.h"
#include "policy/licence.h"
#include "engine/plan.h"
#include "engine/wait.h"

/*
 * Looks before the window is worked out, in ns: a wait that ends within them need not pay
 * for the arithmetic, about 30 ns. Four looks at 40 ns on the project's guest.
 */
#define FIRST_LOOKS_NS 160

/*
 * A spin that lasts longer needs a licence, in ns. Shorter ones are over before they take
 * anything from anybody, and taking a licence moves a cache line between CPUs.
 */
#define UNLICENSED_NS 2000

/*
 * Looks are spread as the wait grows: a look comes at most 1/16 of the time waited so far
 * after the last one, and at most 250 ns. Fewer looks disturb the waker's cache line and
 * the sibling hardware thread less; 1/32 of the wait on average is what that costs.
 */
#define GAP_SHARE  16
#define GAP_MAX_NS 250

/*
 * Two looks so far apart, in ns: the thread may not have been on its CPU. If the kernel has
 * switched it out, the sentinel tells. If not, it was an interrupt, some 10 us, or a rest that
 * arm64's event stream ended, 100 us; beyond that the hypervisor.
 */
#define SWITCHED_GAP_NS 10000
#define STOLEN_GAP_NS   200000

enum stage { FIRST_LOOKS, UNLICENSED, LICENSED };

struct spin {
	const struct iw_tick_rate *rate;
	uint64_t start;  /* ticks */
	uint64_t last;   /* ticks at the last look */
	uint64_t gap;    /* ticks between the last two */
	uint64_t limit;  /* ticks from the start until the end of the stage */
	uint64_t window; /* ticks from the start until the end; 0: not worked out yet */
	uint64_t
		part; /* ticks to spin whatever the window, see policy/part.h; 0: it holds */
	uint32_t pauses;
	uint32_t licence;
	bool monitored; /* the CPU watches the object's line since before the last look */
	enum stage stage;
	enum iw_reason reason; /* why it goes on no more */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t until_deadline_ns(const struct iw_waiter *me)
{
	int64_t left;

	if (me->deadline_ns == IPCWAIT_FOREVER)
		return UINT64_MAX;
	left = me->deadline_ns - iw_clock_ns();
	return left < 0 ? 0 : (uint64_t)left;
}

/*
 * Time between two looks. The length of a pause is not known and need not be. A long spin
 * rests until the object's line is written to, on CPUs that can: it comes no later for that
 * and leaves power and the core to the sibling thread.
 */
static void pause_between(struct spin *s)
{
	uint64_t now;

	if (s->monitored)
		iw_monitor_wait(s->start + s->limit);
	else
		for (uint32_t i = 0; i < s->pauses; i++)
			iw_pause();
	now = iw_tick_now(s->rate);
	/* A counter may jump back, with the machine it is on. */
	if (now < s->last)
		now = s->last;
	s->gap = now - s->last;
	s->last = now;
	if (s->gap * GAP_SHARE < now - s->start &&
	    s->gap < iw_tick_from_ns(s->rate, GAP_MAX_NS))
		s->pauses++;
}

static bool look(struct iw_waiter *me, struct spin *s)
{
	s->monitored = s->stage == LICENSED && me->facts->monitor && me->futex;
	if (s->monitored)
		iw_monitor(me->futex);
	return me->what->look(me);
}

/* The thread lost its CPU between the last two looks, to whom? */
static enum iw_reason cpu_lost(const struct spin *s)
{
	uint64_t gap_ns = iw_tick_to_ns(s->rate, s->gap);

	if (IPCWAIT_LIKELY(gap_ns < SWITCHED_GAP_NS))
		return IW_NO_REASON;
	if (iw_rseq_disturbed())
		return IW_PREEMPTED;
	return gap_ns < STOLEN_GAP_NS ? IW_NO_REASON : IW_STOLEN;
}

/* FIRST_LOOKS -> UNLICENSED: the wait is worth a plan. */
static enum iw_reason plan(struct iw_waiter *me, struct spin *s)
{
	uint64_t ns = iw_plan_spin_ns(me, s->last);

	if (s->part)
		ns = iw_tick_to_ns(s->rate, s->part);
	s->stage = UNLICENSED;
	s->window = iw_tick_from_ns(s->rate, least(ns, until_deadline_ns(me)));
	s->limit = least(s->window, iw_tick_from_ns(s->rate, UNLICENSED_NS));
	return s->window ? IW_NO_REASON : IW_LEARNED_LONG;
}

/* UNLICENSED -> LICENSED, if there is more of the window than that. */
static enum iw_reason licensed(const struct iw_waiter *me, struct spin *s)
{
	if (s->window <= s->limit)
		return IW_WINDOW_OVER;
	s->stage = LICENSED;
	s->limit = s->window;
	if (me->preset == IPCWAIT_SPIN || s->part)
		return IW_NO_REASON;
	s->licence = iw_licence_take(me->facts, s->last);
	return s->licence ? IW_NO_REASON : IW_CROWDED;
}

static bool goes_on(struct iw_waiter *me, struct spin *s)
{
	uint64_t elapsed = s->last - s->start;

	s->reason = cpu_lost(s);
	if (!s->reason && me->crowded)
		s->reason = IW_CROWDED;
	if (!s->reason && elapsed >= s->limit && s->stage == FIRST_LOOKS)
		s->reason = plan(me, s);
	if (!s->reason && elapsed >= s->limit)
		s->reason = s->stage == LICENSED ? IW_WINDOW_OVER : licensed(me, s);
	return !s->reason;
}

static void begin(struct iw_waiter *me, struct spin *s, uint64_t limit_ns)
{
	s->rate = &me->facts->rate;
	s->start = s->last = iw_tick_now(s->rate);
	s->pauses = 1;
	s->limit = iw_tick_from_ns(s->rate, FIRST_LOOKS_NS);
	if (limit_ns) {
		s->window =
			iw_tick_from_ns(s->rate, least(limit_ns, until_deadline_ns(me)));
		s->limit = least(s->window, iw_tick_from_ns(s->rate, UNLICENSED_NS));
		s->stage = UNLICENSED;
	}
}

/* The time before the CPU was lost is what the spin has cost. */
static void charge(const struct iw_waiter *me, const struct spin *s, uint64_t lost)
{
	iw_budget_charge(me->facts, s->last, s->last - s->start - lost);
	if (lost)
		iw_harm_note(me->facts, s->last);
}

bool iw_spin(struct iw_waiter *me, uint64_t limit_ns, struct iw_spun *spun)
{
	struct spin s = { 0 };
	uint64_t lost;
	bool taken;

	*spun = (struct iw_spun){ .reason = IW_NO_FACTS };
	if (!me->facts)
		return false;
	begin(me, &s, limit_ns);
	spun->reason = iw_admit(me, s.start, &s.part);
	if (spun->reason)
		return false;
	iw_rseq_arm();
	while (!(taken = look(me, &s)) && goes_on(me, &s))
		pause_between(&s);
	spun->dirty = taken && cpu_lost(&s);
	iw_rseq_disarm();
	iw_licence_return(s.licence);
	lost = s.reason == IW_PREEMPTED || s.reason == IW_STOLEN ? s.gap : 0;
	if (!taken && !s.part && me->preset != IPCWAIT_SPIN)
		charge(me, &s, lost);
	spun->ns = iw_tick_to_ns(s.rate, s.last - s.start);
	spun->lost_ns = iw_tick_to_ns(s.rate, lost);
	spun->window_ns = s.part ? 0 : iw_tick_to_ns(s.rate, s.window);
	spun->reason = taken ? IW_NO_REASON : s.reason;
	return taken;
}
