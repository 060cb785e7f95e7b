/* SPDX-License-Identifier: MIT */
#include "queue/segment.h"

#include <ipcwait/pool.h>

#define CLASSES 11

_Static_assert(IW_SEGMENT_LEAST << (CLASSES - 1) == IW_SEGMENT_MOST,
	       "a class for each size");
_Static_assert(IW_SEGMENT_MOST <= IPCWAIT_POOL_ELEM_MAX, "a pool has them all");

/*
 * What waits for a grace period, in bytes: whoever retires more waits for one. At 50 million
 * elements of 8 bytes a second some 8 MiB are on their way at a time, so it is reached if a
 * thread is held up in the middle of a push or a pop.
 */
#define LIMBO_MOST (64u << 20)

/* Addresses of pools, made when they are first needed and never ended. */
static struct ipcwait_word64 pools[CLASSES];

static struct ipcwait_word64 limbo;

static unsigned class_of(uint32_t bytes)
{
	return (unsigned)__builtin_ctz(bytes / IW_SEGMENT_LEAST);
}

static struct ipcwait_pool *pool_of(unsigned class)
{
	/* ORD segment.A1: acquire, finds the pool made. Pairs with segment.R1. */
	return iw_pointer(ipcwait_impl_load64_acquire(&pools[class]));
}

/* Without a lock, which a fork could cut in half: of several that are made at once one stays. */
static struct ipcwait_pool *make_pool(unsigned class)
{
	struct ipcwait_pool_params params = { .elem_size = (size_t)IW_SEGMENT_LEAST
							   << class,
					      .elem_align = IW_ARCH_LINE_BYTES };
	struct ipcwait_pool *pool;
	uint64_t none = 0;

	if (ipcwait_pool_create(&params, &pool))
		return pool_of(class);
	/* ORD segment.R1: release, the pool is made. Pairs with segment.A1. */
	if (ipcwait_impl_cas64_release(&pools[class], &none, (uintptr_t)pool))
		return pool;
	ipcwait_pool_destroy(pool);
	return pool_of(class);
}

struct iw_segment *iw_segment_get(uint32_t bytes, size_t stride, size_t beside)
{
	unsigned class = class_of(bytes);
	struct ipcwait_pool *pool = pool_of(class);
	struct iw_segment *s;

	if (!pool)
		pool = make_pool(class);
	s = pool ? ipcwait_pool_get(pool) : NULL;
	if (!s)
		return NULL;
	*s = (struct iw_segment){
		.slots = (uint32_t)((bytes - sizeof(*s)) / (stride + beside)),
		.bytes = bytes,
	};
	for (char *at = s->slot, *end = at + s->slots * stride; at < end; at += stride)
		*(struct ipcwait_word64 *)(void *)at =
			(struct ipcwait_word64){ IW_SLOT_EMPTY };
	return s;
}

void iw_segment_put(struct iw_segment *s)
{
	ipcwait_pool_put(pool_of(class_of(s->bytes)), s);
}

static void give_back(struct iw_rcu_head *head)
{
	struct iw_segment *s =
		(void *)((char *)head - offsetof(struct iw_segment, retired));

	/* ORD segment.X1: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(&limbo, -(uint64_t)s->bytes);
	iw_segment_put(s);
}

void iw_segment_retire(struct iw_segment *s)
{
	uint32_t bytes = s->bytes;
	/* ORD segment.X2: relaxed, statistic. */
	uint64_t before = ipcwait_impl_add64_relaxed(&limbo, bytes);

	iw_rcu_retire(&s->retired, give_back);
	if (before + bytes > LIMBO_MOST)
		iw_rcu_wait();
}

uint64_t iw_segments_in_limbo(void)
{
	/* ORD segment.X3: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(&limbo);
}

size_t iw_segments_trim(void)
{
	size_t bytes = 0;

	iw_rcu_wait();
	for (unsigned c = 0; c < CLASSES; c++)
		if (pool_of(c))
			bytes += ipcwait_pool_trim(pool_of(c));
	return bytes;
}
