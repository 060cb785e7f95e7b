/* SPDX-License-Identifier: MIT */
/* Rings: where they come from, how both sides go from one to the next, where they go. */
#include <errno.h>
#include <stdlib.h>

#include "os/seam.h"
#include "queue/spsc.h"

static struct iw_spsc_ring *make(const struct iw_spsc *s)
{
	int saved_errno = errno;
	struct iw_spsc_ring *r =
		aligned_alloc(_Alignof(struct iw_spsc_ring), s->ring_bytes);

	errno = saved_errno;
	return r;
}

static void enter(struct ipcwait_impl_spsc_side *me, struct iw_spsc_ring *r)
{
	me->ring = r;
	me->elems = r->elems;
}

bool iw_spsc_begin(struct iw_spsc *s)
{
	struct iw_spsc_ring *r = make(s);

	if (!r)
		return false;
	r->next.v = NULL;
	r->first = 0;
	enter(&s->base.producer, r);
	enter(&s->base.consumer, r);
	s->base.producer.until = s->room;
	return true;
}

struct iw_spsc_ring *iw_spsc_take_spare(struct iw_spsc *s)
{
	/*
	 * ORD spsc_ring.A1: acquire, so what the producer writes there comes after what the
	 * consumer has read. Pairs with spsc_ring.R2.
	 */
	struct iw_spsc_ring *r = ipcwait_impl_loadptr_acquire(&s->spare);

	/* ORD spsc_ring.X1: relaxed, no order needed: who sees it uses nothing of the ring. */
	if (r)
		ipcwait_impl_storeptr_relaxed(&s->spare, NULL);
	return r;
}

int iw_spsc_next_ring(struct iw_spsc *s, uint64_t at)
{
	struct ipcwait_impl_spsc_side *me = &s->base.producer;
	struct iw_spsc_ring *r = iw_spsc_take_spare(s), *last = me->ring;

	if (!r)
		r = make(s);
	if (!r)
		return -ENOMEM;
	r->first = at;
	/* ORD spsc_ring.X2: relaxed, protected by spsc_ring.R1: nobody else knows the ring. */
	ipcwait_impl_storeptr_relaxed(&r->next, NULL);
	/*
	 * ORD spsc_ring.R1: release, so the consumer finds the ring made. It is the last that the
	 * producer does with the one before. Pairs with spsc_ring.A2.
	 */
	ipcwait_impl_storeptr_release(&last->next, r);
	enter(me, r);
	me->until = at + s->room;
	return 0;
}

static struct iw_spsc_ring *next_of(const struct iw_spsc_ring *r)
{
	/*
	 * ORD spsc_ring.A2: acquire, so the ring is seen as it was made. Who has seen an element of
	 * it published sees it here. Pairs with spsc_ring.R1.
	 */
	return ipcwait_impl_loadptr_acquire(&r->next);
}

/* To the producer, or to the system if one waits for it already. */
static void hand_back(struct iw_spsc *s, struct iw_spsc_ring *r)
{
	/* ORD spsc_ring.X3: relaxed, no order needed: only the consumer puts one there. */
	if (ipcwait_impl_loadptr_relaxed(&s->spare)) {
		free(r);
		return;
	}
	/* ORD spsc_ring.R2: release, after all that was read of it. Pairs with spsc_ring.A1. */
	ipcwait_impl_storeptr_release(&s->spare, r);
}

uint64_t iw_spsc_follow(struct iw_spsc *s, uint64_t at, uint64_t tail)
{
	struct ipcwait_impl_spsc_side *me = &s->base.consumer;
	struct iw_spsc_ring *left = me->ring, *next = next_of(left);

	if (next && next->first == at) {
		enter(me, next);
		hand_back(s, left);
		next = next_of(next);
	}
	return next && (int64_t)(next->first - tail) < 0 ? next->first : tail;
}

void iw_spsc_free_rings(struct iw_spsc *s)
{
	struct iw_spsc_ring *next;

	for (struct iw_spsc_ring *r = s->base.consumer.ring; r; r = next) {
		next = next_of(r);
		free(r);
	}
	free(iw_spsc_take_spare(s));
}
