/* SPDX-License-Identifier: MIT */
#include "env/cpus.h"
#include "os/cpu.h"
#include "os/seam.h"
#include "wait/admit.h"
#include "wait/budget.h"
#include "wait/cost.h"
#include "wait/part.h"
#include "wait/window.h"

/* At most one spin in so many is given up to measure a sleep. */
#define SPINS_PER_PROBE 64

static bool probe(const struct iw_waiter *me, uint64_t now)
{
	struct iw_thread *self = iw_self();

	if (IPCWAIT_LIKELY(++self->unprobed < SPINS_PER_PROBE) ||
	    !iw_cost_probe_due(me->facts, now))
		return false;
	self->unprobed = 0;
	return true;
}

/* Where the waker ran when it last woke a sleeper: a guess at where it runs. */
static bool beside_waker(const struct iw_waiter *me)
{
	uint32_t waker = iw_window_waker_cpu(me->window);

	return waker && waker == iw_cpu_current() + 1;
}

static enum iw_reason admit_cpus(const struct iw_waiter *me, uint64_t now)
{
	struct iw_thread *self = iw_self();

	self->alone =
		!iw_cpus_several(&me->facts->rate, now, iw_window_waker_cpu(me->window));
	if (self->alone)
		return IW_ONE_CPU;
	self->alone = iw_cpus_rationed();
	return self->alone ? IW_RATIONED : IW_NO_REASON;
}

/* Sleeping where the waker runs is no different from having one CPU only. */
static enum iw_reason admit_beside(const struct iw_waiter *me, uint64_t now,
				   uint64_t *part_ticks)
{
	*part_ticks = iw_part_beside(me->facts, now);
	iw_self()->alone = !*part_ticks;
	return *part_ticks ? IW_NO_REASON : IW_SAME_CPU;
}

enum iw_reason iw_admit(const struct iw_waiter *me, uint64_t now, uint64_t *part_ticks)
{
	enum iw_reason cpus = admit_cpus(me, now);

	if (me->preset == IPCWAIT_BLOCK)
		return IW_PRESET_BLOCK;
	if (cpus || me->preset == IPCWAIT_SPIN)
		return cpus;
	if (iw_self()->realtime)
		return IW_REALTIME;
	if (beside_waker(me))
		return admit_beside(me, now, part_ticks);
	iw_part_apart();
	if (me->facts->dedicated)
		return IW_NO_REASON;
	if (!iw_budget_allows(me->facts, now))
		return IW_BUDGET_EMPTY;
	return probe(me, now) ? IW_PROBE : IW_NO_REASON;
}
