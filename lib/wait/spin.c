/* SPDX-License-Identifier: MIT */
#include "env/cpus.h"
#include "env/facts.h"
#include "os/seam.h"
#include "wait/budget.h"
#include "wait/policy.h"
#include "wait/wait.h"
#include "wait/window.h"

/*
 * Looks before the window is worked out, in ns: a wait that ends within them need not pay
 * for the arithmetic, about 30 ns. Four looks at 40 ns on the project's guest.
 */
#define FIRST_LOOKS_NS 160

/*
 * Looks are spread as the wait grows: a look comes at most 1/16 of the time waited so far
 * after the last one, and at most 250 ns. Fewer looks disturb the waker's cache line and
 * the sibling hardware thread less; 1/32 of the wait on average is what that costs.
 */
#define GAP_SHARE  16
#define GAP_MAX_NS 250

struct spin {
	const struct iw_tick_rate *rate;
	uint64_t start; /* ticks */
	uint64_t last;  /* ticks at the last look */
	uint64_t limit; /* ticks from the start */
	uint32_t pauses;
	bool sized; /* the limit is the window, not yet the first looks */
};

/* Why a waiter may not spin at all. */
static bool admitted(const struct iw_waiter *me, const struct spin *s)
{
	bool several = iw_cpus_several(s->rate, s->start, iw_window_waker_cpu(me->window));

	iw_self()->alone = !several;
	return several && me->preset != IPCWAIT_BLOCK &&
	       (me->preset == IPCWAIT_SPIN || me->facts->dedicated ||
		iw_budget_allows(me->facts, s->start));
}

static uint64_t window_ticks(const struct iw_waiter *me, const struct spin *s)
{
	uint64_t ns = iw_policy_spin_ns(me);

	if (me->deadline_ns != IPCWAIT_FOREVER) {
		int64_t left = me->deadline_ns - iw_clock_ns();

		ns = left <= 0 ? 0 : (uint64_t)left < ns ? (uint64_t)left : ns;
	}
	return iw_tick_from_ns(s->rate, ns);
}

/* Pause between two looks. The length of a pause is not known and need not be. */
static uint64_t pause_between(struct spin *s)
{
	uint64_t now, gap;

	for (uint32_t i = 0; i < s->pauses; i++)
		iw_pause();
	now = iw_tick_now(s->rate);
	gap = now - s->last;
	s->last = now;
	if (gap * GAP_SHARE < now - s->start && gap < iw_tick_from_ns(s->rate, GAP_MAX_NS))
		s->pauses++;
	return now - s->start;
}

static bool out_of_time(const struct iw_waiter *me, struct spin *s, uint64_t elapsed)
{
	if (elapsed < s->limit)
		return false;
	if (!s->sized) {
		s->sized = true;
		s->limit = window_ticks(me, s);
	}
	return elapsed >= s->limit;
}

bool iw_spin(struct iw_waiter *me, uint64_t *spun_ns)
{
	struct spin s = { .pauses = 1 };
	uint64_t elapsed;
	bool taken;

	*spun_ns = 0;
	if (!me->facts)
		return false;
	s.rate = &me->facts->rate;
	s.start = s.last = iw_tick_now(s.rate);
	if (!admitted(me, &s))
		return false;
	s.limit = iw_tick_from_ns(s.rate, FIRST_LOOKS_NS);
	do {
		elapsed = pause_between(&s);
		taken = me->what->look(me);
	} while (!taken && !out_of_time(me, &s, elapsed));
	*spun_ns = iw_tick_to_ns(s.rate, elapsed);
	if (!taken)
		iw_budget_charge(me->facts, s.last, elapsed);
	return taken;
}
