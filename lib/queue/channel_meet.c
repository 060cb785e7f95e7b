/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wake.h"
#include "os/seam.h"
#include "queue/blocking.h"
#include "queue/channel_eventfd.h"
#include "queue/channel_meet.h"
#include "queue/lock.h"
#include "sync/eventcount.h"

#define INDEX_ONE (UINT64_C(1) << 32)

struct iw_meeting {
	struct ipcwait_channel base;
	struct ipcwait_mutex lock;
	struct iw_offer offers[2]; /* rings of those to send and to receive, with a head */
	struct ipcwait_word64 sending; /* offers to send; written under the lock */
	struct ipcwait_word64 closed;  /* the same */
	/* Of the first, waits of ipcwait_wait_any(); of both, what waits have taught. */
	struct ipcwait_eventcount elements, room;
};

/* Whom to wake after the lock is given back. */
struct wake {
	const uint32_t *futex; /* NULL: nobody */
	uint64_t stamped_at;
};

static uint64_t state_of(const struct iw_party *p)
{
	/*
	 * ORD channel_meet.A1: acquire, what the partner has written before it was done. Pairs with
	 * channel_meet.R1.
	 */
	return ipcwait_impl_load64_acquire(&p->state);
}

bool iw_party_open(struct iw_party *p)
{
	uint64_t w = IW_PARTY_BUSY;

	/*
	 * ORD channel_meet.S1: seq_cst, before watchers are told; the element is protected by the
	 * lock of the channel. Pairs with channel_meet.S4 and channel_meet.S5.
	 */
	if (ipcwait_impl_cas64_seq_cst(&p->state, &w, IW_PARTY_OPEN))
		return true;
	/* ORD channel_meet.X1: relaxed, no order needed: the locks of the channels have it. */
	ipcwait_impl_store64_relaxed(&p->state, IW_PARTY_BUSY);
	return false;
}

bool iw_party_doze(struct iw_party *p)
{
	uint64_t w = IW_PARTY_OPEN;

	/* ORD channel_meet.X3: relaxed, protected by the locks of the channels. */
	return ipcwait_impl_cas64_relaxed(&p->state, &w, IW_PARTY_ASLEEP) ||
	       w == IW_PARTY_ASLEEP;
}

bool iw_party_claim(struct iw_party *p)
{
	uint64_t w = state_of(p);

	while (w == IW_PARTY_OPEN || w == IW_PARTY_ASLEEP)
		/* ORD channel_meet.X2: relaxed, no order needed: nobody has read the offers. */
		if (ipcwait_impl_cas64_relaxed(&p->state, &w, IW_PARTY_BUSY))
			return true;
	return w == IW_PARTY_BUSY || w == IW_PARTY_MISSED;
}

bool iw_party_done(const struct iw_party *p, unsigned *index)
{
	uint64_t w = state_of(p);

	*index = (unsigned)(w / INDEX_ONE);
	return (uint32_t)w == IW_PARTY_DONE;
}

unsigned iw_party_accepted(const struct iw_party *p)
{
	return (unsigned)(state_of(p) / INDEX_ONE);
}

static void count(struct ipcwait_word64 *n, uint64_t by)
{
	/*
	 * ORD channel_meet.S2: seq_cst, before watchers are told. Pairs with channel_meet.S3.
	 */
	(void)ipcwait_impl_add64_seq_cst(n, by);
}

static bool any(const struct ipcwait_word64 *n)
{
	/*
	 * ORD channel_meet.S3: seq_cst, as the last look before a sleep. Pairs with
	 * channel_meet.S2.
	 */
	return ipcwait_impl_load64_seq_cst(n);
}

static void link_last(struct iw_meeting *m, int op, struct iw_offer *o)
{
	struct iw_offer *head = &m->offers[op];

	o->next = head;
	o->previous = head->previous;
	o->previous->next = head->previous = o;
	o->linked = true;
	if (op == IPCWAIT_CHANNEL_SEND)
		count(&m->sending, 1);
}

static void unlink_offer(struct iw_meeting *m, int op, struct iw_offer *o)
{
	o->next->previous = o->previous;
	o->previous->next = o->next;
	o->linked = false;
	if (op == IPCWAIT_CHANNEL_SEND)
		count(&m->sending, (uint64_t)-1);
}

/*
 * Whether @o is the caller's now. A party that is busy may have looked at this channel before the
 * caller came, so it is told to look again if the caller @goes after this.
 */
static bool accept(struct iw_offer *o, bool goes, uint64_t *was)
{
	uint64_t accepted = IW_PARTY_ACCEPTED + o->index * INDEX_ONE;
	/*
	 * ORD channel_meet.S4: seq_cst, as the last look of an event loop that has armed the alarm.
	 * Pairs with channel_meet.S1.
	 */
	uint64_t w = ipcwait_impl_load64_seq_cst(&o->party->state);

	for (*was = w; w <= IW_PARTY_BUSY; *was = w) {
		bool busy = w == IW_PARTY_BUSY;

		if (busy && !goes)
			return false;
		/* ORD channel_meet.X4: relaxed, protected by the lock, as the element is. */
		if (ipcwait_impl_cas64_relaxed(&o->party->state, &w,
					       busy ? IW_PARTY_MISSED : accepted))
			return !busy;
	}
	return false;
}

/* Its party may be gone afterwards. */
static struct wake complete(struct iw_meeting *m, int op, struct iw_offer *o, uint64_t was,
			    int result)
{
	struct iw_party *p = o->party;
	struct wake wake = { .futex = NULL };

	o->result = result;
	unlink_offer(m, op, o);
	if (was == IW_PARTY_ASLEEP) {
		wake.futex = (const uint32_t *)&p->state;
		wake.stamped_at = iw_stamp(p->window);
	}
	/* ORD channel_meet.R1: release, the element and the result. Pairs with channel_meet.A1. */
	ipcwait_impl_store64_release(&p->state, IW_PARTY_DONE + o->index * INDEX_ONE);
	return wake;
}

static void do_wake(struct wake wake)
{
	if (wake.futex)
		(void)iw_wake(IPCWAIT_KIND_CHANNEL, wake.futex, 1, true, wake.stamped_at);
}

/*
 * The first offer opposite to @op that can be accepted, and is. NULL: none. A party that will look
 * again itself tells nobody to: else two could do so for ever.
 */
static struct iw_offer *find(struct iw_meeting *m, int op, const struct iw_offer *mine,
			     uint64_t *was)
{
	const struct iw_party *me = mine ? mine->party : NULL;
	struct iw_offer *head = &m->offers[!op];

	for (struct iw_offer *o = head->next; o != head; o = o->next)
		if (o->party != me && accept(o, me && state_of(me) != IW_PARTY_MISSED, was))
			return o;
	return NULL;
}

static int64_t meet_locked(struct iw_meeting *m, int op, void *elem, struct iw_offer *mine,
			   struct wake *wake)
{
	struct iw_offer *o;
	uint64_t was;

	if (any(&m->closed))
		return -EPIPE;
	o = find(m, op, mine, &was);
	if (o) {
		bool sends = op == IPCWAIT_CHANNEL_SEND;

		memcpy(sends ? o->elem : elem, sends ? elem : o->elem, m->base.elem_size);
		*wake = complete(m, !op, o, was, 0);
		return 1;
	}
	if (mine && !mine->linked)
		link_last(m, op, mine);
	return -EAGAIN;
}

int64_t iw_meet(struct ipcwait_channel *ch, int op, void *elem, struct iw_offer *mine)
{
	struct iw_meeting *m = ch->meeting;
	struct wake wake = { .futex = NULL };
	int64_t r;

	iw_lock(&m->lock);
	r = meet_locked(m, op, elem, mine, &wake);
	iw_unlock(&m->lock);
	do_wake(wake);
	return r;
}

void iw_meet_not(struct ipcwait_channel *ch, int op, struct iw_offer *mine)
{
	struct iw_meeting *m = ch->meeting;

	/* Only the party itself puts it in, and only who accepts it takes it out, before DONE. */
	if (!mine->linked)
		return;
	iw_lock(&m->lock);
	unlink_offer(m, op, mine);
	iw_unlock(&m->lock);
}

void iw_meet_await(struct ipcwait_channel *ch)
{
	iw_lock(&ch->meeting->lock);
	iw_unlock(&ch->meeting->lock);
}

void iw_meet_tell(struct ipcwait_channel *ch)
{
	iw_unblock(ch->elements, 1, IPCWAIT_KIND_CHANNEL);
	iw_channel_alarm(ch);
}

static int64_t meet_send(struct ipcwait_channel *ch, const void *elems, size_t n)
{
	(void)n;
	return iw_meet(ch, IPCWAIT_CHANNEL_SEND, iw_offered(elems), NULL);
}

static int64_t meet_recv(struct ipcwait_channel *ch, void *elems, size_t n)
{
	(void)n;
	return iw_meet(ch, IPCWAIT_CHANNEL_RECV, elems, NULL);
}

/* Parties that are busy look again, and find it closed. */
static void close_offers(struct iw_meeting *m, int op)
{
	struct iw_offer *head = &m->offers[op], *o, *next;
	uint64_t was;

	for (o = head->next; o != head; o = next) {
		next = o->next;
		if (accept(o, true, &was))
			do_wake(complete(m, op, o, was, -EPIPE));
	}
}

static int meet_close(struct ipcwait_channel *ch)
{
	struct iw_meeting *m = ch->meeting;
	int r = -EALREADY;

	iw_lock(&m->lock);
	if (!any(&m->closed)) {
		count(&m->closed, 1);
		close_offers(m, IPCWAIT_CHANNEL_SEND);
		close_offers(m, IPCWAIT_CHANNEL_RECV);
		r = 0;
	}
	iw_unlock(&m->lock);
	iw_unblock(ch->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
	return r;
}

static void meet_length(struct ipcwait_channel *ch, uint64_t *lo, uint64_t *hi)
{
	(void)ch;
	*lo = *hi = 0;
}

static bool can_be_accepted(const struct iw_offer *o)
{
	/*
	 * ORD channel_meet.S5: seq_cst, as the last look before a sleep: who opens its party tells
	 * afterwards. Pairs with channel_meet.S1.
	 */
	return ipcwait_impl_load64_seq_cst(&o->party->state) < IW_PARTY_BUSY;
}

/*
 * An offer whose party is busy is none yet: who is told of it could not take it, and would look
 * again and again until that thread runs.
 */
static bool has_open_offer(struct iw_meeting *m)
{
	struct iw_offer *head = &m->offers[IPCWAIT_CHANNEL_SEND], *o;

	iw_lock(&m->lock);
	for (o = head->next; o != head && !can_be_accepted(o); o = o->next)
		continue;
	iw_unlock(&m->lock);
	return o != head;
}

static bool meet_ready(struct ipcwait_channel *ch)
{
	struct iw_meeting *m = ch->meeting;

	return any(&m->closed) || (any(&m->sending) && has_open_offer(m));
}

static void meet_destroy(struct ipcwait_channel *ch)
{
	free(ch->meeting);
}

static const struct iw_channel_ops meet_ops = {
	.send = meet_send,
	.recv = meet_recv,
	.close = meet_close,
	.length = meet_length,
	.ready = meet_ready,
	.destroy = meet_destroy,
};

struct ipcwait_channel *iw_channel_meet(const struct ipcwait_channel_params *params)
{
	struct iw_meeting *m = malloc(sizeof(*m));

	if (!m)
		return NULL;
	*m = (struct iw_meeting){
		.base = { .any = &iw_channel_made.any,
			  .ops = &meet_ops,
			  .elem_size = params->elem_size,
			  .elements = &m->elements,
			  .room = &m->room,
			  .meeting = m },
		.lock = { .flags = IPCWAIT_PRIVATE },
		.elements = iw_eventcount_private(),
		.room = iw_eventcount_private(),
	};
	for (int op = 0; op < 2; op++)
		m->offers[op].next = m->offers[op].previous = &m->offers[op];
	return &m->base;
}
