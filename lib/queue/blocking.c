/* SPDX-License-Identifier: MIT */
/* The waiter's side; the argument is in docs/design/blocking.md. */
#include "queue/blocking.h"

#include "sync/object.h"

static void leave(struct iw_blocking *me)
{
	if (!me->in_line.announced)
		return;
	(void)iw_any_eventcount.withdraw(&me->line, &me->in_line);
	me->in_line.announced = false;
}

/*
 * Out of the line first. A notification that has reached it is used up by this attempt, even if
 * that finds nothing: then somebody else has taken what it was for.
 */
static bool leave_and_attempt(struct iw_waiter *base)
{
	struct iw_blocking *me = (struct iw_blocking *)base;

	leave(me);
	return me->attempt(me);
}

static enum iw_seen look(struct iw_waiter *base)
{
	return leave_and_attempt(base) ? IW_THERE : IW_AWAY;
}

static struct iw_rest into_line(struct iw_blocking *me)
{
	struct iw_rest rest;

	do {
		me->line.expected = ipcwait_eventcount_prepare(me->line.object);
		rest = iw_any_eventcount.announce(&me->line, &me->in_line);
	} while (rest.taken);
	me->in_line.announced = rest.word;
	return rest;
}

/*
 * What the last attempt takes may be older than a notification that has reached this thread
 * meanwhile: that one goes to the next in line.
 */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct iw_blocking *me = (struct iw_blocking *)base;
	struct iw_rest rest;

	rest = into_line(me);
	if (me->fence && !me->fence())
		rest = iw_rest_unpublished();
	if (!me->attempt(me)) {
		if (me->nap_ns)
			rest.until_ns = iw_clock_ns() + me->nap_ns;
		return rest;
	}
	if (me->in_line.announced)
		iw_any_eventcount.retract(&me->line, &me->in_line);
	me->in_line.announced = false;
	return iw_rest_taken();
}

#define WAITABLE(of_kind)                                                             \
	{                                                                             \
		.kind = (of_kind), .resumable = true, .look = look, .settle = settle, \
		.withdraw = leave_and_attempt,                                        \
	}

static const struct iw_waitable queue_waitable = WAITABLE(IPCWAIT_KIND_QUEUE);
static const struct iw_waitable channel_waitable = WAITABLE(IPCWAIT_KIND_CHANNEL);

int iw_block(struct iw_blocking *me, struct ipcwait_eventcount *ec, enum ipcwait_kind kind,
	     int64_t deadline_ns, uintptr_t site)
{
	me->line = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_EVENTCOUNT,
					      .object = ec };
	me->in_line = (struct iw_any_state){ .announced = false };
	me->base = (struct iw_waiter){
		.what = kind == IPCWAIT_KIND_QUEUE ? &queue_waitable : &channel_waitable,
		.window = &ec->window,
		.deadline_ns = deadline_ns,
		.site = site,
		.private_ = ec->flags & IPCWAIT_PRIVATE,
	};
	return iw_wait(&me->base);
}
