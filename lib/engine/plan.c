/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "engine/plan.h"
#include "policy/harm.h"
#include "policy/policy.h"
#include "policy/window.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The next number of the thread's generator: xorshift, Marsaglia 2003, with his constants. */
static uint32_t next_random(struct iw_thread *self)
{
	uint32_t x = self->jitter;

	/* Threads that begin together must not jitter alike. */
	if (!x)
		x = (uint32_t)((uintptr_t)self >> 4) | 1; /* NOLINT */

	x ^= x << 13; /* NOLINT */
	x ^= x >> 17; /* NOLINT */
	x ^= x << 5;  /* NOLINT */
	self->jitter = x;
	return x;
}

/*
 * Plus or minus an eighth, so that waiters which lose by a hair do not all lose again, and
 * no wait pattern can sit just beyond the threshold.
 */
static uint64_t jittered(uint64_t ns)
{
	return ns - ns / 8 + (ns / 4 * (next_random(iw_self()) % 256) / 256);
}

/* How long a spin may be after the ones that went wrong lately. */
static uint64_t longest_ns(const struct iw_waiter *me, uint64_t now)
{
	unsigned level = me->preset == IPCWAIT_SPIN ? 0 : iw_harm_level(me->facts, now);

	return least(2 * me->block_ns >> level, iw_policy_ceiling_ns(me->facts));
}

uint64_t iw_plan_spin_ns(struct iw_waiter *me, uint64_t now)
{
	struct iw_timer_cost timer = iw_policy_timer(me->facts, me->block_ns);
	uint64_t most = longest_ns(me, now);

	if (me->preset == IPCWAIT_SPIN)
		return most;
	iw_window_plan(me->window, me->block_ns, me->delay_ns,
		       me->what->resumable ? &timer : NULL, &me->plan);
	me->plan.spin_again_ns = least(me->plan.spin_again_ns, most);
	me->plan.timed = me->plan.timed && me->plan.sleep.span_ns <= me->plan.spin_again_ns;
	return least(jittered(me->plan.spin_ns), most);
}
