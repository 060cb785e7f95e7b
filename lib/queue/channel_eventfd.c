/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/eventfd.h"
#include "os/pointer.h"
#include "queue/channel_eventfd.h"

static struct iw_eventfd *eventfd_of(uint64_t alarm)
{
	return iw_pointer(alarm & ~IW_ALARM_ARMED);
}

static uint64_t read_alarm(const struct ipcwait_channel *ch)
{
	/*
	 * ORD channel_eventfd.A1: acquire, what it points to is there. Pairs with
	 * channel_eventfd.R1.
	 */
	return ipcwait_impl_load64_acquire(&ch->alarm);
}

void iw_channel_alarm_slow(struct ipcwait_channel *ch)
{
	uint64_t w = read_alarm(ch);

	while (w & IW_ALARM_ARMED)
		/* ORD channel_eventfd.X2: relaxed, no order needed: only one of them sets it. */
		if (ipcwait_impl_cas64_relaxed(&ch->alarm, &w, w & ~IW_ALARM_ARMED)) {
			iw_eventfd_set(eventfd_of(w));
			break;
		}
}

bool iw_channel_alarm_rearm(struct ipcwait_channel *ch)
{
	uint64_t w = read_alarm(ch);

	if (!w)
		return false;
	iw_eventfd_clear(eventfd_of(w));
	/* ORD channel_eventfd.S2: seq_cst, before the last look. Pairs with channel_eventfd.S1. */
	(void)ipcwait_impl_or64_seq_cst(&ch->alarm, IW_ALARM_ARMED);
	return true;
}

void iw_channel_alarm_end(struct ipcwait_channel *ch)
{
	uint64_t w = read_alarm(ch);

	if (w)
		iw_eventfd_end(eventfd_of(w));
}

/* Of two threads that make one at once, both use the winner's. NULL: no memory. */
static struct iw_eventfd *make(struct ipcwait_channel *ch)
{
	struct iw_eventfd *e = iw_eventfd_new();
	uint64_t none = 0;

	if (!e)
		return NULL;
	/* ORD channel_eventfd.R1: release, it is there. Pairs with channel_eventfd.A1. */
	if (ipcwait_impl_cas64_release(&ch->alarm, &none, (uintptr_t)e))
		return e;
	iw_eventfd_end(e);
	return eventfd_of(read_alarm(ch));
}

int ipcwait_channel_eventfd(struct ipcwait_channel *ch)
{
	struct iw_eventfd *e;

	if (!ch)
		return -EINVAL;
	if (ch->any != &iw_channel_made.any)
		return -ENOTSUP;
	e = eventfd_of(read_alarm(ch));
	if (!e)
		e = make(ch);
	return e ? iw_eventfd_number(e) : -ENOMEM;
}
