/* SPDX-License-Identifier: MIT */
/*
 * What all channels have, whatever they are made of: a ring in this process (channel_ring.c), a
 * meeting place without memory (channel_meet.c), or a ring in shared memory. Each says in a struct
 * iw_channel_ops what one attempt does. Waiting, deadlines, bulk, select and the eventfd are
 * written once over that: channel.c, channel_select.c.
 */
#ifndef IW_QUEUE_CHANNEL_H
#define IW_QUEUE_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/channel.h>
#include <ipcwait/eventcount.h>

#include "queue/made.h"

struct iw_meeting;

/*
 * Attempts never wait, for peers neither: an element that is being put in or taken out is not there
 * yet. @n is never 0, and no pointer NULL.
 *
 * Who changes something tells the waiters itself, with iw_unblock() after the change: senders the
 * event count of elements, receivers that of room, close() both, everybody. Changes, and what an
 * attempt looks at before it answers -EAGAIN, are seq_cst (blocking.h).
 *
 * Each thing that can be taken is told of at a moment from which on it can be: where things
 * become ready out of order, so that one of them hides others, its notification is for those too.
 * Once closed and drained, all receivers are told.
 */
struct iw_channel_ops {
	/* How many of @n it has sent, from the first on; -EPIPE; -EAGAIN: no room now. */
	int64_t (*send)(struct ipcwait_channel *ch, const void *elems, size_t n);

	/* How many it has received, up to @n; -EPIPE: closed and drained; -EAGAIN: none now. */
	int64_t (*recv)(struct ipcwait_channel *ch, void *elems, size_t n);

	/* 0; -EALREADY. */
	int (*close)(struct ipcwait_channel *ch);

	/* Between what and what the length was during the call. */
	void (*length)(struct ipcwait_channel *ch, uint64_t *lo, uint64_t *hi);

	/* An element is there, or it is closed. Seq_cst, as the last look of a receiver. */
	bool (*ready)(struct ipcwait_channel *ch);

	/* Nobody uses it any more. Frees the struct too. */
	void (*destroy)(struct ipcwait_channel *ch);

	/* A sleeper attempts again after so long at the latest, in ns; 0: only when it is told. */
	int64_t nap_ns;
};

/*
 * Its first members. An implementation embeds it first in a struct of its own. Never written after
 * the channel is made, but for the eventfd: a line that only readers have.
 */
struct ipcwait_channel {
	const struct iw_any_kind *any; /* what ipcwait_wait_any() asks; sync/any.h */
	const struct iw_channel_ops *ops;
	size_t elem_size;
	struct ipcwait_eventcount *elements; /* receivers wait here, */
	struct ipcwait_eventcount *room;     /* and senders here; wherever they are */
	struct iw_meeting *meeting;          /* capacity 0: channel_meet.h; else NULL */

	/* The eventfd and who is to write it; channel_eventfd.c. All zero: there is none. */
	struct ipcwait_word64 alarm;
};

/* For .any: of this process, and of several, where words are not private. */
extern const struct iw_made iw_channel_made, iw_channel_made_shared;

#endif
