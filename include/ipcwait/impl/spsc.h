/* SPDX-License-Identifier: MIT */
/*
 * What the inline functions of <ipcwait/spsc.h> see of a queue. Installed because they need it; not
 * API.
 */
#ifndef IPCWAIT_IMPL_SPSC_H
#define IPCWAIT_IMPL_SPSC_H

#include <string.h>

#include <ipcwait/base.h>
#include <ipcwait/eventcount.h>
#include <ipcwait/impl/word.h>

/*
 * One side. Places count elements since the beginning, modulo 2^64. Written by its own
 * thread only, and of that the other sees nothing but @at.
 *
 *   producer.at   t -> t+n   elements t .. t+n-1 are there       the producer
 *   consumer.at   h -> h+n   their places are free               the consumer
 *
 * t - h is never above the bound, and never negative.
 */
struct ipcwait_impl_spsc_side {
	struct ipcwait_word64 at; /* where it is */
	uint64_t until;           /* so far it may go without a look at the other */
	char *elems;              /* of its ring */
	uint64_t mask;            /* elements in a ring, less one */
	size_t size;              /* of an element */
	bool exchanges;           /* publishes by a seq_cst exchange */
	void *ring;
} __attribute__((aligned(128)));

struct ipcwait_spsc {
	struct ipcwait_impl_spsc_side producer, consumer;

	/* Who waits for elements, and who for room. A line each. */
	struct ipcwait_eventcount elements __attribute__((aligned(128)));
	struct ipcwait_word64 closed; /* 0 or 1 */
	struct ipcwait_eventcount room __attribute__((aligned(128)));
};

/* What compilers know of both tells them that larger copies are not made there. */
static inline __attribute__((always_inline)) bool ipcwait_impl_spsc_is(size_t size,
								       size_t known,
								       const void *to,
								       const void *from)
{
	return size == known && __builtin_object_size(to, 0) >= known &&
	       __builtin_object_size(from, 0) >= known;
}

/*
 * The sizes that are one or two moves of a register. False: it is another, and nothing was copied.
 * For a call of memcpy() in the fast path registers would be saved, and those stores take up the
 * room in which stores into lines of the other side have to wait.
 */
static inline __attribute__((always_inline)) bool ipcwait_impl_spsc_copy(void *to,
									 const void *from,
									 size_t size)
{
	if (IPCWAIT_LIKELY(ipcwait_impl_spsc_is(size, 8, to, from)))
		memcpy(to, from, 8);
	else if (ipcwait_impl_spsc_is(size, 4, to, from))
		memcpy(to, from, 4);
	else if (ipcwait_impl_spsc_is(size, 16, to, from))
		memcpy(to, from, 16);
	else
		return false;
	return true;
}

static inline char *ipcwait_impl_spsc_place(const struct ipcwait_impl_spsc_side *s,
					    uint64_t at)
{
	return s->elems + (at & s->mask) * s->size;
}

/* @me has come to @at; the other may sleep on @ec for that. */
static inline void ipcwait_impl_spsc_publish(struct ipcwait_impl_spsc_side *me, uint64_t at,
					     struct ipcwait_eventcount *ec)
{
	/*
	 * ORD spsc.R1: release, so the other side finds the elements written, or read. Pairs with
	 * spsc.A1, spsc.A2 and spsc_life.A1.
	 *
	 * The load of the line below may come before the store. Whoever has joined the line gives
	 * all threads a barrier, and then looks: that sees the store, or this the line.
	 *
	 * ORD spsc.S1: seq_cst, as blocking.S1, where there are no such barriers. Pairs with
	 * spsc_wait.S1.
	 */
	if (IPCWAIT_LIKELY(!me->exchanges))
		ipcwait_impl_store64_release(&me->at, at);
	else
		(void)ipcwait_impl_swap64_seq_cst(&me->at, at);

	/*
	 * ORD spsc.S2: seq_cst, after the change; a plain load for x86-64. Pairs with
	 * eventcount.S1.
	 */
	if (__builtin_expect(ipcwait_impl_load64_seq_cst(&ec->word) >> 43 != 0, 0))
		(void)ipcwait_eventcount_notify(ec, 1);
}

/* Where @me is, who asks. */
static inline uint64_t ipcwait_impl_spsc_at(const struct ipcwait_impl_spsc_side *me)
{
	/* ORD spsc.X1: relaxed, protected by the part: nobody else writes it. */
	return ipcwait_impl_load64_relaxed(&me->at);
}

static inline bool ipcwait_impl_spsc_is_closed(const struct ipcwait_spsc *q)
{
	/* ORD spsc.X2: relaxed, no order needed: the producer reads nothing on account of it. */
	return ipcwait_impl_load64_relaxed(&q->closed) != 0;
}

/* A push without a look at the consumer. False: it takes one, or the queue is closed. */
static inline __attribute__((always_inline)) bool ipcwait_impl_spsc_push_fast(
	struct ipcwait_spsc *q, const void *elem)
{
	struct ipcwait_impl_spsc_side *me = &q->producer;
	uint64_t at = ipcwait_impl_spsc_at(me);

	if (!IPCWAIT_LIKELY(at != me->until && !ipcwait_impl_spsc_is_closed(q)) ||
	    !ipcwait_impl_spsc_copy(ipcwait_impl_spsc_place(me, at), elem, me->size))
		return false;
	ipcwait_impl_spsc_publish(me, at + 1, &q->elements);
	return true;
}

/* A pop without a look at the producer. False: it takes one. */
static inline __attribute__((always_inline)) bool ipcwait_impl_spsc_pop_fast(
	struct ipcwait_spsc *q, void *elem)
{
	struct ipcwait_impl_spsc_side *me = &q->consumer;
	uint64_t at = ipcwait_impl_spsc_at(me);

	if (!IPCWAIT_LIKELY(at != me->until) ||
	    !ipcwait_impl_spsc_copy(elem, ipcwait_impl_spsc_place(me, at), me->size))
		return false;
	ipcwait_impl_spsc_publish(me, at + 1, &q->room);
	return true;
}

#endif
