/* SPDX-License-Identifier: MIT */
#include "pass.h"

#include "os/seam.h"
#include "watch/observe.h"
#include "watch/stats.h"

_Thread_local struct iw_futile iw_futile __attribute__((tls_model("initial-exec")));

/* A preset that spins whatever that gains is not judged. */
static bool asks_for_spins(enum ipcwait_preset preset)
{
	return preset > IPCWAIT_POWER && preset != IPCWAIT_BLOCK;
}

/*
 * It has not slept. Of a descriptor that is a gain only if the thread has spun and kept the CPU.
 * What the first look finds, a plain call would have found. What comes while others have the CPU by
 * a yield would have come in a sleep.
 */
static bool has_gained(const struct front *me)
{
	return !me->base.what->in_kernel || (me->base.block_ns && !iw_self()->shares_cpu);
}

void iw_note_gain(const struct front *me)
{
	if (!me->over && has_gained(me))
		iw_futile_gained(&iw_futile);
	else if (me->over && !asks_for_spins(me->base.preset))
		iw_futile_slept(&iw_futile, me->base.reason);
}

/* While a move is on trial all waits are timed, and all are told of where that is asked for. */
static bool all_count(void)
{
	const struct iw_facts *facts = iw_facts();

	return iw_self()->migration.home || !facts || iw_is_observed(facts);
}

bool iw_wait_passes(enum ipcwait_kind kind)
{
	if (IPCWAIT_LIKELY(!iw_futile_passes(&iw_futile)) || all_count())
		return false;
	iw_count(kind, IW_SLEPT, 1);
	iw_count(kind, IW_FUTEX_WAITS, 1);
	iw_count_reason((enum iw_reason)iw_futile.reason);
	return true;
}
