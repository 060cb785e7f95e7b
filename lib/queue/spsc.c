/* SPDX-License-Identifier: MIT */
/* How elements go in and out; the argument is in docs/design/spsc.md. */
/* Where the sides are, and the close: lib/os/tell.h. */
#define IW_TELLS_BY_HAND

#include "queue/spsc.h"

#include "os/seam.h"
#include "os/tell.h"

int iw_spsc_find_room(struct iw_spsc *s, uint64_t at)
{
	struct ipcwait_impl_spsc_side *me = &s->base.producer;
	const struct iw_spsc_ring *r = me->ring;
	/*
	 * ORD spsc.A1: acquire, so what is written comes after what the consumer has read there.
	 * Pairs with spsc.R1.
	 */
	uint64_t head = ipcwait_impl_load64_acquire(&s->base.consumer.at);

	iw_tell_acquired(&s->base.consumer.at);
	/* The consumer may still be in a ring before. */
	me->until = ((int64_t)(head - r->first) < 0 ? r->first : head) + s->room;
	if (at != me->until)
		return 0;
	return s->bounded ? -EAGAIN : iw_spsc_next_ring(s, at);
}

static uint64_t tail(const struct iw_spsc *s)
{
	/*
	 * ORD spsc.A2: acquire, so the elements are seen as they were written. Pairs with
	 * spsc.R1.
	 */
	uint64_t end = ipcwait_impl_load64_acquire(&s->base.producer.at);

	iw_tell_acquired(&s->base.producer.at);
	return end;
}

int iw_spsc_find_elements(struct iw_spsc *s, uint64_t at)
{
	uint64_t end = tail(s);
	int r = -EAGAIN;

	/*
	 * ORD spsc.S3: seq_cst, for who has joined the line; so the look that follows sees what
	 * came in before the close. Pairs with spsc_wait.S3.
	 */
	if (end == at && ipcwait_impl_load64_seq_cst(&s->base.closed)) {
		iw_tell_acquired(&s->base.closed);
		end = tail(s);
		r = -EPIPE;
	}
	if (end == at)
		return r;
	s->base.consumer.until = iw_spsc_follow(s, at, end);
	return 0;
}

static void publish(struct ipcwait_impl_spsc_side *me, uint64_t at,
		    struct ipcwait_eventcount *ec)
{
	iw_tell_releases(&me->at);
	ipcwait_impl_spsc_publish(me, at, ec);
}

int ipcwait_impl_spsc_push_slow(struct ipcwait_spsc *q, const void *elem)
{
	struct ipcwait_impl_spsc_side *me = &q->producer;
	uint64_t at = ipcwait_impl_spsc_at(me);
	int r;

	if (ipcwait_impl_spsc_is_closed(q))
		return -EPIPE;
	r = at == me->until ? iw_spsc_find_room(iw_spsc(q), at) : 0;
	if (r)
		return r;
	memcpy(ipcwait_impl_spsc_place(me, at), elem, me->size);
	publish(me, at + 1, &q->elements);
	return 0;
}

int ipcwait_impl_spsc_pop_slow(struct ipcwait_spsc *q, void *elem)
{
	struct ipcwait_impl_spsc_side *me = &q->consumer;
	uint64_t at = ipcwait_impl_spsc_at(me);
	int r = at == me->until ? iw_spsc_find_elements(iw_spsc(q), at) : 0;

	if (r)
		return r;
	memcpy(elem, ipcwait_impl_spsc_place(me, at), me->size);
	publish(me, at + 1, &q->room);
	return 0;
}

/* How many of @n lie side by side from @at on, where @me may go. */
static size_t piece(const struct ipcwait_impl_spsc_side *me, uint64_t at, size_t n)
{
	uint64_t to_end = me->mask + 1 - (at & me->mask);

	if (n > me->until - at)
		n = me->until - at;
	return n < to_end ? n : (size_t)to_end;
}

int64_t ipcwait_spsc_push_n(struct ipcwait_spsc *q, const void *elems, size_t n)
{
	struct ipcwait_impl_spsc_side *me = &q->producer;
	uint64_t begin = ipcwait_impl_spsc_at(me), at = begin;
	const char *from = elems;
	size_t k;
	int r = 0;

	if (ipcwait_impl_spsc_is_closed(q))
		return -EPIPE;
	for (; n; n -= k, at += k, from += k * me->size) {
		if (at == me->until && (r = iw_spsc_find_room(iw_spsc(q), at)))
			break;
		k = piece(me, at, n);
		memcpy(ipcwait_impl_spsc_place(me, at), from, k * me->size);
	}
	if (at == begin)
		return r;
	publish(me, at, &q->elements);
	return (int64_t)(at - begin);
}

int64_t ipcwait_spsc_pop_n(struct ipcwait_spsc *q, void *elems, size_t n)
{
	struct ipcwait_impl_spsc_side *me = &q->consumer;
	uint64_t begin = ipcwait_impl_spsc_at(me), at = begin;
	char *to = elems;
	size_t k;
	int r = 0;

	for (; n; n -= k, at += k, to += k * me->size) {
		if (at == me->until && (r = iw_spsc_find_elements(iw_spsc(q), at)))
			break;
		k = piece(me, at, n);
		memcpy(to, ipcwait_impl_spsc_place(me, at), k * me->size);
	}
	if (at == begin)
		return r;
	publish(me, at, &q->room);
	return (int64_t)(at - begin);
}

void *ipcwait_spsc_reserve(struct ipcwait_spsc *q, size_t *n)
{
	struct ipcwait_impl_spsc_side *me = &q->producer;
	uint64_t at = ipcwait_impl_spsc_at(me);

	if (ipcwait_impl_spsc_is_closed(q) ||
	    (me->until - at < *n && iw_spsc_find_room(iw_spsc(q), at)))
		*n = 0;
	else
		*n = piece(me, at, *n);
	return *n ? ipcwait_impl_spsc_place(me, at) : NULL;
}

int ipcwait_spsc_commit(struct ipcwait_spsc *q, size_t n)
{
	struct ipcwait_impl_spsc_side *me = &q->producer;
	uint64_t at = ipcwait_impl_spsc_at(me);

	if (piece(me, at, n) != n)
		return -EINVAL;
	if (ipcwait_impl_spsc_is_closed(q))
		return -EPIPE;
	if (n)
		publish(me, at + n, &q->elements);
	return 0;
}

const void *ipcwait_spsc_peek(struct ipcwait_spsc *q, size_t *n)
{
	struct ipcwait_impl_spsc_side *me = &q->consumer;
	uint64_t at = ipcwait_impl_spsc_at(me);

	if (me->until - at < *n && iw_spsc_find_elements(iw_spsc(q), at))
		*n = 0;
	else
		*n = piece(me, at, *n);
	return *n ? ipcwait_impl_spsc_place(me, at) : NULL;
}

int ipcwait_spsc_release(struct ipcwait_spsc *q, size_t n)
{
	struct ipcwait_impl_spsc_side *me = &q->consumer;
	uint64_t at = ipcwait_impl_spsc_at(me);

	if (piece(me, at, n) != n)
		return -EINVAL;
	if (n)
		publish(me, at + n, &q->room);
	return 0;
}
