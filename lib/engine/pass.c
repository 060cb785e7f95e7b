/* SPDX-License-Identifier: MIT */
#include "engine/pass.h"
#include "engine/wait.h"
#include "os/seam.h"
#include "policy/futile.h"
#include "watch/observe.h"
#include "watch/stats.h"

/* A preset that spins whatever that gains is not judged. */
static bool is_judged(const struct iw_waiter *me)
{
	return me->preset <= IPCWAIT_POWER || me->preset == IPCWAIT_BLOCK;
}

void iw_note_gain(const struct iw_waiter *me, enum iw_reason slept_for)
{
	if (!slept_for)
		iw_futile_gained(&iw_self()->futile);
	else if (is_judged(me))
		iw_futile_slept(&iw_self()->futile, slept_for);
}

/* While a move is on trial all waits are timed, and all are told of where that is asked for. */
static bool all_count(const struct iw_thread *self)
{
	const struct iw_facts *facts = iw_facts();

	return self->migration.home || !facts || iw_is_observed(facts);
}

bool iw_wait_passes(enum ipcwait_kind kind)
{
	struct iw_thread *self = iw_self();

	if (IPCWAIT_LIKELY(!iw_futile_passes(&self->futile)) || all_count(self))
		return false;
	iw_count(kind, IW_SLEPT, 1);
	iw_count(kind, IW_FUTEX_WAITS, 1);
	iw_count_reason((enum iw_reason)self->futile.reason);
	return true;
}
