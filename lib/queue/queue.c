/* SPDX-License-Identifier: MIT */
/* The queue as programs see it: a chain of segments, and who waits for its elements. */
#include <ipcwait/queue.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue/blocking.h"
#include "queue/chain.h"
#include "queue/made.h"
#include "queue/params.h"
#include "sync/eventcount.h"

struct ipcwait_queue {
	const struct iw_any_kind *any; /* what ipcwait_wait_any() asks */

	/* Read by every push, and written once if at all. */
	uint64_t max_elems;
	struct ipcwait_word32 closed; /* a hint for pushers: the chain knows */
	void (*elem_fini)(void *elem, void *arg);
	void *elem_fini_arg;

	struct iw_chain chain;
	struct ipcwait_eventcount elements __attribute__((aligned(IW_ARCH_LINE_BYTES)));
};

int ipcwait_queue_params_check(const struct ipcwait_queue_params *p)
{
	if (!p)
		return -EINVAL;
	if (!iw_reserved_is_zero(p->reserved) || p->flags & ~IPCWAIT_QUEUE_ONE_CONSUMER ||
	    !p->elem_size || p->elem_size > IPCWAIT_QUEUE_ELEM_MAX)
		return -EINVAL;
	return 0;
}

static struct ipcwait_eventcount *elements(void *object)
{
	return &((struct ipcwait_queue *)object)->elements;
}

static bool ready(void *object)
{
	return iw_chain_ready(&((struct ipcwait_queue *)object)->chain);
}

static const struct iw_made made = {
	.any = IW_MADE_ANY(IPCWAIT_WAITABLE_QUEUE, true),
	.kind = IPCWAIT_KIND_QUEUE,
	.elements = elements,
	.ready = ready,
};

static bool set_up(struct ipcwait_queue *q, const struct ipcwait_queue_params *p)
{
	*q = (struct ipcwait_queue){
		.any = &made.any,
		.max_elems = p->max_elems,
		.elem_fini = p->elem_fini,
		.elem_fini_arg = p->elem_fini_arg,
		.elements = iw_eventcount_private(),
	};
	iw_any_admit(&made.any);
	return iw_rcu_ready() && iw_chain_init(&q->chain, p->elem_size,
					       p->flags & IPCWAIT_QUEUE_ONE_CONSUMER);
}

struct ipcwait_queue *ipcwait_queue_create(const struct ipcwait_queue_params *params)
{
	int saved_errno = errno;
	struct ipcwait_queue *q;

	if (ipcwait_queue_params_check(params))
		return NULL;
	q = aligned_alloc(_Alignof(struct ipcwait_queue), sizeof(*q));
	if (q && !set_up(q, params)) {
		free(q);
		q = NULL;
	}
	errno = saved_errno;
	return q;
}

void ipcwait_queue_destroy(struct ipcwait_queue *q)
{
	if (!q)
		return;
	iw_chain_fini(&q->chain, q->elem_fini, q->elem_fini_arg);
	free(q);
}

static bool is_closed(const struct ipcwait_queue *q)
{
	/* ORD queue.A1: acquire, sees what came before the close. Pairs with queue.R1. */
	return ipcwait_impl_load32_acquire(&q->closed);
}

/* Of so many as were there at some instant. */
static uint64_t room(struct ipcwait_queue *q)
{
	uint64_t lo, hi;

	iw_chain_measure(&q->chain, &lo, &hi, NULL);
	return lo < q->max_elems ? q->max_elems - lo : 0;
}

int ipcwait_queue_push(struct ipcwait_queue *q, const void *elem)
{
	int r;

	if (is_closed(q))
		return -EPIPE;
	if (q->max_elems && !room(q))
		return -EAGAIN;
	r = iw_chain_push_one(&q->chain, elem);
	if (!r)
		iw_unblock(&q->elements, 1, IPCWAIT_KIND_QUEUE);
	return r;
}

int64_t ipcwait_queue_push_n(struct ipcwait_queue *q, const void *elems, size_t n)
{
	uint64_t left;
	int64_t r;

	if (!n)
		return 0;
	if (is_closed(q))
		return -EPIPE;
	if (q->max_elems) {
		left = room(q);
		if (!left)
			return -EAGAIN;
		n = n < left ? n : (size_t)left;
	}
	r = iw_chain_push(&q->chain, elems, n);
	if (r > 0)
		iw_unblock(&q->elements, r < UINT32_MAX ? (uint32_t)r : UINT32_MAX,
			   IPCWAIT_KIND_QUEUE);
	return r;
}

int ipcwait_queue_trypop(struct ipcwait_queue *q, void *elem)
{
	return iw_chain_pop_one(&q->chain, elem);
}

int64_t ipcwait_queue_pop_n(struct ipcwait_queue *q, void *elems, size_t n)
{
	return iw_chain_pop(&q->chain, elems, n);
}

/* A pop that waits. */
struct popper {
	struct iw_blocking base;
	struct ipcwait_queue *q;
	void *elems;
	size_t n;
	int64_t result;
};

static bool pop_one(struct iw_blocking *base)
{
	struct popper *me = (struct popper *)base;

	me->result = iw_chain_pop_one(&me->q->chain, me->elems);
	return me->result != -EAGAIN;
}

static bool pop_some(struct iw_blocking *base)
{
	struct popper *me = (struct popper *)base;

	me->result = iw_chain_pop(&me->q->chain, me->elems, me->n);
	return me->result != -EAGAIN;
}

static int pop_until(struct ipcwait_queue *q, void *elem, int64_t deadline_ns,
		     uintptr_t site)
{
	struct popper me = { .q = q, .elems = elem };
	int r = iw_chain_pop_one(&q->chain, elem);

	if (IPCWAIT_LIKELY(r != -EAGAIN))
		return r;
	me.base.attempt = pop_one;
	r = iw_block(&me.base, &q->elements, IPCWAIT_KIND_QUEUE, deadline_ns, site);
	return r ? r : (int)me.result;
}

int ipcwait_queue_pop_until(struct ipcwait_queue *q, void *elem, int64_t deadline_ns)
{
	return pop_until(q, elem, deadline_ns, IW_CALL_SITE);
}

int ipcwait_queue_pop(struct ipcwait_queue *q, void *elem)
{
	return pop_until(q, elem, IPCWAIT_FOREVER, IW_CALL_SITE);
}

int64_t ipcwait_queue_pop_n_until(struct ipcwait_queue *q, void *elems, size_t n,
				  int64_t deadline_ns)
{
	struct popper me = { .q = q, .elems = elems, .n = n };
	int r;

	me.base.attempt = pop_some;
	if (pop_some(&me.base))
		return me.result;
	r = iw_block(&me.base, &q->elements, IPCWAIT_KIND_QUEUE, deadline_ns, IW_CALL_SITE);
	return r ? r : me.result;
}

int ipcwait_queue_close(struct ipcwait_queue *q)
{
	int r = iw_chain_close(&q->chain);

	/* ORD queue.R1: release, as the chain's end. Pairs with queue.A1. */
	ipcwait_impl_store32_release(&q->closed, 1);
	iw_unblock(&q->elements, UINT32_MAX, IPCWAIT_KIND_QUEUE);
	return r;
}

int ipcwait_queue_length(struct ipcwait_queue *q, uint64_t *lo, uint64_t *hi)
{
	if (!lo || !hi)
		return -EINVAL;
	iw_chain_measure(&q->chain, lo, hi, NULL);
	return 0;
}

size_t ipcwait_queue_trim(struct ipcwait_queue *q)
{
	(void)q;
	return iw_segments_trim();
}

static uint64_t sum(const struct ipcwait_word64 *count)
{
	/* ORD queue.X1: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(count);
}

int ipcwait_queue_stats_get(struct ipcwait_queue *q, struct ipcwait_queue_stats *st,
			    size_t size)
{
	struct ipcwait_queue_stats all = { 0 };
	uint64_t lo, hi;

	if (!q || !st || size < sizeof(all.size))
		return -EINVAL;
	all.size = size < sizeof(all) ? size : sizeof(all);
	iw_chain_measure(&q->chain, &lo, &hi, &all.bytes);
	all.segments = sum(&q->chain.used_up);
	all.spoiled = sum(&q->chain.spoiled);
	all.limbo_bytes = iw_segments_in_limbo();
	memcpy(st, &all, all.size);
	return (int)all.size;
}
