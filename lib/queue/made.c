/* SPDX-License-Identifier: MIT */
#include "queue/made.h"

#include "os/seam.h"
#include "sync/eventcount.h"

static const struct iw_made *made_of(const struct ipcwait_waitable *o)
{
	return *(const struct iw_made *const *)o->object;
}

static struct ipcwait_eventcount *elements_of(const struct ipcwait_waitable *o)
{
	return made_of(o)->elements(o->object);
}

static bool is_ready(const struct ipcwait_waitable *o)
{
	return made_of(o)->ready(o->object);
}

/* What the wait knows of the place in line: its key above, and what the event count has noted. */
static struct ipcwait_waitable line_of(const struct ipcwait_waitable *o,
				       const struct iw_any_state *state)
{
	return (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_EVENTCOUNT,
					  .object = elements_of(o),
					  .expected = state->own >> 32 };
}

static struct iw_any_state place_of(const struct iw_any_state *state)
{
	return (struct iw_any_state){ .own = (uint32_t)state->own, .announced = true };
}

void iw_made_retract(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	const struct ipcwait_waitable line = line_of(o, state);
	const struct iw_any_state place = place_of(state);

	iw_any_eventcount.retract(&line, &place);
}

bool iw_made_take(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	if (!is_ready(o))
		return false;
	if (state->announced)
		iw_made_retract(o, state);
	return true;
}

/* A notification that finds nothing is used up: what it was for is another's. */
bool iw_made_withdraw(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	const struct ipcwait_waitable line = line_of(o, state);
	const struct iw_any_state place = place_of(state);
	bool notified = iw_any_eventcount.withdraw(&line, &place);

	if (!is_ready(o))
		return false;
	if (notified)
		(void)iw_eventcount_notify(elements_of(o), 1, made_of(o)->kind);
	return true;
}

struct iw_rest iw_made_announce(const struct ipcwait_waitable *o,
				struct iw_any_state *state)
{
	const struct iw_made *made = made_of(o);
	struct ipcwait_waitable line;
	struct iw_any_state place;
	struct iw_rest rest;

	if (state->announced && iw_made_withdraw(o, state))
		return iw_rest_taken();
	/* It has left, and finds no place again if the line is full. */
	state->announced = false;
	do {
		place = (struct iw_any_state){ .announced = false };
		state->own = ipcwait_eventcount_prepare(elements_of(o)) << 32;
		line = line_of(o, state);
		rest = iw_any_eventcount.announce(&line, &place);
	} while (rest.taken);
	state->own |= place.own;
	if (made->nap_ns)
		rest.until_ns = iw_clock_ns() + made->nap_ns;
	if (!is_ready(o))
		return rest;
	if (rest.word)
		iw_made_retract(o, state);
	return iw_rest_taken();
}
