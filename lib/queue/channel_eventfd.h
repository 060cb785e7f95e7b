/* SPDX-License-Identifier: MIT */
/*
 * The eventfd of a channel, for event loops: readable whenever the channel may have an element,
 * or is closed.
 *
 *   channel.alarm  the address of the eventfd (os/eventfd.h), and bit 0:
 *     0             there is none
 *     address       it is readable, or a thread is about to make it so
 *     ARMED         a thread that puts an element in, or closes, makes it readable
 *
 *     0       -> address  make     any thread
 *     address -> ARMED    rearm    receivers, after they have cleared it; then they look once more
 *     ARMED   -> address  alarm    who sets it
 *
 * The sender changes the channel and then looks at the word; the receiver changes the word, and
 * then looks at the channel: one of them sees the other. A set that comes late, after another
 * receiver has cleared it, makes it readable for nothing, and the next receiver clears it again.
 */
#ifndef IW_QUEUE_CHANNEL_EVENTFD_H
#define IW_QUEUE_CHANNEL_EVENTFD_H

#include "os/seam.h"
#include "queue/channel.h"

#define IW_ALARM_ARMED UINT64_C(1)

void iw_channel_alarm_slow(struct ipcwait_channel *ch);

/* After an element has come, or a close. */
static inline void iw_channel_alarm(struct ipcwait_channel *ch)
{
	/*
	 * ORD channel_eventfd.S1: seq_cst, after a change that is. Pairs with channel_eventfd.S2.
	 */
	if (ipcwait_impl_load64_seq_cst(&ch->alarm) & IW_ALARM_ARMED)
		iw_channel_alarm_slow(ch);
}

/* After nothing was found. False: there is no eventfd. Else look once more. */
bool iw_channel_alarm_rearm(struct ipcwait_channel *ch);

void iw_channel_alarm_end(struct ipcwait_channel *ch);

#endif
