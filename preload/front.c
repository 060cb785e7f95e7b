/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>

#include "after_unlock.h"
#include "front.h"
#include "os/seam.h"
#include "pass.h"
#include "signals.h"

#define NS_PER_S 1000000000

static const struct front_call *call_of(const struct front *me)
{
	return (const struct front_call *)me->base.what;
}

/* What expired in the original counts as such. */
static enum iw_seen end_seen(const struct front *me)
{
	return me->result == ETIMEDOUT ? IW_AWAY : IW_THERE;
}

static uint32_t handled(const struct front *me)
{
	if (me->interrupts == FRONT_NEVER)
		return 0;
	return me->interrupts == FRONT_ANY ? iw_handled.any : iw_handled.interrupting;
}

bool iw_front_interrupted(struct front *me)
{
	if (handled(me) == me->handled)
		return false;
	me->result = EINTR;
	return true;
}

enum iw_seen iw_front_look(struct iw_waiter *base)
{
	struct front *me = (struct front *)base;

	if (me->over)
		return end_seen(me);
	if (me->point)
		pthread_testcancel();
	if (!iw_front_interrupted(me))
		me->result = call_of(me)->take(me);
	return me->result == EBUSY ? IW_AWAY : IW_THERE;
}

struct iw_rest iw_front_settle(struct iw_waiter *base)
{
	struct iw_rest rest = iw_rest_on(base->futex, 0);

	if (iw_front_look(base) == IW_THERE)
		return iw_rest_taken();
	rest.may_spin = false;
	return rest;
}

/* In the place of the futex. May be left by cancellation. */
static int sleep_in_original(struct iw_waiter *base, const struct iw_rest *rest,
			     int64_t until_ns)
{
	struct front *me = (struct front *)base;

	(void)rest;
	(void)until_ns;
	iw_place_enter(me->place);
	me->result = call_of(me)->block(me);
	iw_place_leave(me->place, me->object);
	me->over = true;
	return me->result == ETIMEDOUT ? -ETIMEDOUT : 0;
}

bool iw_front_deadline(const struct front_limit *limit, int64_t *deadline_ns)
{
	const struct timespec *at = limit->at;

	*deadline_ns = IPCWAIT_FOREVER;
	if (!at)
		return true;
	if (at->tv_nsec < 0 || at->tv_nsec >= NS_PER_S || at->tv_sec < 0 ||
	    (limit->clock != CLOCK_REALTIME && limit->clock != CLOCK_MONOTONIC))
		return false;
	if (at->tv_sec >= IW_DEADLINE_MOST_NS / NS_PER_S)
		return true;
	*deadline_ns = at->tv_sec * NS_PER_S + at->tv_nsec;
	/* In this order: who is switched out in between comes late, and not early. */
	if (limit->clock == CLOCK_REALTIME) {
		*deadline_ns -= iw_clock_real_ns();
		*deadline_ns += iw_clock_ns();
	}
	return true;
}

int iw_front_wait(struct front *me, const struct front_call *call, uintptr_t site)
{
	int saved_errno = errno, r;

	iw_after_unlock_hurry();
	me->handled = handled(me);
	me->base.what = &call->waitable;
	if (iw_wait_passes(call->waitable.kind))
		return call->block(me);
	if (!iw_front_deadline(&me->limit, &me->base.deadline_ns))
		return call->block(me);
	if (me->point)
		pthread_testcancel();
	me->place = iw_place_take(me->object);
	me->base.window = &me->place->window;
	me->base.futex = call->waitable.in_kernel ? NULL : me->object;
	me->base.site = site;
	me->base.private_ = true;
	me->base.sleep = sleep_in_original;
	r = iw_wait(&me->base);
	iw_note_gain(me);
	errno = saved_errno;
	/* A deadline that passed in the spin: by the original's own clock? */
	return r == 0 || me->over ? me->result : call->block(me);
}
