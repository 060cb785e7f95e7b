/* SPDX-License-Identifier: MIT */
#include "env/cpus.h"
#include "os/cpu.h"
#include "os/seam.h"
#include "engine/admit.h"
#include "policy/budget.h"
#include "policy/cost.h"
#include "policy/part.h"
#include "policy/policy.h"
#include "policy/window.h"

/* At most one spin in so many is given up to measure a sleep. */
#define SPINS_PER_PROBE 64

/*
 * After so many waits in a row without a second CPU only one in so many asks again whether
 * there is one: asking costs 0.1 us, and 2 % of a hand-off on one CPU.
 */
#define STREAK 16

static bool probe(const struct iw_waiter *me, uint64_t now)
{
	struct iw_thread *self = iw_self();

	if (IPCWAIT_LIKELY(++self->unprobed < SPINS_PER_PROBE) ||
	    !iw_cost_probe_due(me->facts, now))
		return false;
	self->unprobed = 0;
	return true;
}

/*
 * Where the waker ran when it last woke a sleeper: a guess at where it runs. The last waker of a
 * mutex may have been this thread itself.
 */
static bool beside_waker(const struct iw_waiter *me)
{
	uint32_t waker = iw_window_waker_cpu(me->window);

	return waker && waker == iw_cpu_current() + 1 && iw_self()->stamped != me->window;
}

static enum iw_reason lacks_cpus(const struct iw_waiter *me, uint64_t now)
{
	if (!iw_cpus_several(&me->facts->rate, now, iw_window_waker_cpu(me->window)))
		return IW_ONE_CPU;
	return iw_cpus_rationed() ? IW_RATIONED : IW_NO_REASON;
}

/* A spin that parts is longer than any window: not against anybody's wish. */
static bool may_part(const struct iw_waiter *me)
{
	return me->preset != IPCWAIT_POWER && me->facts->config.spin_budget_percent != 0 &&
	       !iw_policy_ceiling_set(me->facts);
}

/* Sleeping where the waker runs is no different from having one CPU only. */
static enum iw_reason lacks_distance(const struct iw_waiter *me, uint64_t now,
				     uint64_t *part_ticks)
{
	if (!beside_waker(me)) {
		iw_part_apart();
		return IW_NO_REASON;
	}
	if (may_part(me))
		*part_ticks = iw_part_beside(me->facts, now);
	return *part_ticks ? IW_NO_REASON : IW_SAME_CPU;
}

/* Whether the thread has a second CPU for whoever it waits for. */
static enum iw_reason admit_place(const struct iw_waiter *me, uint64_t now,
				  uint64_t *part_ticks)
{
	struct iw_thread *self = iw_self();
	enum iw_reason why = lacks_cpus(me, now);

	/* After lacks_cpus(), which reads the scheduling class. */
	if (!why && me->preset < IPCWAIT_SPIN && !self->realtime)
		why = lacks_distance(me, now, part_ticks);
	self->alone = why;
	self->why = (uint8_t)(me->preset == IPCWAIT_BLOCK ? IW_PRESET_BLOCK : why);
	if (!why)
		self->streak = 0;
	return why;
}

/* Of the object before that nothing is known about this one. */
enum iw_reason iw_admit_still_alone(const struct iw_waiter *me)
{
	struct iw_thread *self = iw_self();

	if (!self->alone || self->late_on != me->window || self->streak++ < STREAK ||
	    self->streak % STREAK == 0)
		return IW_NO_REASON;
	return (enum iw_reason)self->why;
}

static bool affordable(const struct iw_waiter *me, uint64_t now)
{
	if (me->facts->dedicated)
		return me->facts->config.spin_budget_percent != 0;
	return iw_budget_allows(me->facts, now);
}

enum iw_reason iw_admit(const struct iw_waiter *me, uint64_t now, uint64_t *part_ticks)
{
	enum iw_reason place = admit_place(me, now, part_ticks);

	if (me->preset == IPCWAIT_BLOCK)
		return IW_PRESET_BLOCK;
	if (place)
		return place;
	if (iw_self()->realtime)
		return IW_REALTIME;
	if (me->preset == IPCWAIT_SPIN || *part_ticks)
		return IW_NO_REASON;
	if (!affordable(me, now))
		return IW_BUDGET_EMPTY;
	return probe(me, now) ? IW_PROBE : IW_NO_REASON;
}
