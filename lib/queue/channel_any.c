/* SPDX-License-Identifier: MIT */
/*
 * A channel as one of the objects of ipcwait_wait_any(): there is an element, or it is closed.
 * Nothing is taken, so a notification that has reached such a waiter is always for the next in
 * line.
 */
#include "os/seam.h"
#include "queue/channel.h"
#include "sync/eventcount.h"

/* What the wait knows of the place in line: its key above, and what the event count has noted. */
static struct ipcwait_waitable line_of(const struct ipcwait_waitable *o,
				       const struct iw_any_state *state)
{
	const struct ipcwait_channel *ch = o->object;

	return (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_EVENTCOUNT,
					  .object = ch->elements,
					  .expected = state->own >> 32 };
}

static struct iw_any_state place_of(const struct iw_any_state *state)
{
	return (struct iw_any_state){ .own = (uint32_t)state->own, .announced = true };
}

static void retract(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	const struct ipcwait_waitable line = line_of(o, state);
	const struct iw_any_state place = place_of(state);

	iw_any_eventcount.retract(&line, &place);
}

static bool take(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct ipcwait_channel *ch = o->object;

	if (!ch->ops->ready(ch))
		return false;
	if (state->announced)
		retract(o, state);
	return true;
}

/* A notification that finds nothing is used up: what it was for is another's. */
static bool withdraw(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	const struct ipcwait_waitable line = line_of(o, state);
	const struct iw_any_state place = place_of(state);
	struct ipcwait_channel *ch = o->object;
	bool notified = iw_any_eventcount.withdraw(&line, &place);

	if (!ch->ops->ready(ch))
		return false;
	if (notified)
		(void)iw_eventcount_notify(ch->elements, 1, IPCWAIT_KIND_CHANNEL);
	return true;
}

static struct iw_rest announce(const struct ipcwait_waitable *o, struct iw_any_state *state)
{
	struct ipcwait_channel *ch = o->object;
	struct ipcwait_waitable line;
	struct iw_any_state place;
	struct iw_rest rest;

	if (state->announced && withdraw(o, state))
		return iw_rest_taken();
	do {
		place = (struct iw_any_state){ .announced = false };
		state->own = ipcwait_eventcount_prepare(ch->elements) << 32;
		line = line_of(o, state);
		rest = iw_any_eventcount.announce(&line, &place);
	} while (rest.taken);
	state->own |= place.own;
	if (ch->ops->nap_ns)
		rest.until_ns = iw_clock_ns() + ch->ops->nap_ns;
	if (!ch->ops->ready(ch))
		return rest;
	if (rest.word)
		retract(o, state);
	return iw_rest_taken();
}

#define KIND(words_are_private)                                                       \
	{                                                                             \
		.made = true, .private_ = (words_are_private),                        \
		.type = IPCWAIT_WAITABLE_CHANNEL, .take = take, .announce = announce, \
		.withdraw = withdraw, .retract = retract,                             \
	}

const struct iw_any_kind iw_any_channel = KIND(true);
const struct iw_any_kind iw_any_channel_shared = KIND(false);
