/* SPDX-License-Identifier: MIT */
#ifndef IW_QUEUE_POOL_H
#define IW_QUEUE_POOL_H

#include <ipcwait/pool.h>

#include "queue/cache.h"
#include "queue/slab.h"

/* Nodes beyond these share the depots of the first ones. */
#define IW_DEPOTS_MOST 8

/* What threads on one NUMA node exchange magazines at. */
struct iw_depot {
	struct iw_shelf full, empty;
	struct ipcwait_word32 least;      /* full ones that nobody needed since ... */
	struct ipcwait_word64 settled_at; /* ... then, CLOCK_MONOTONIC in ns */
	struct ipcwait_word32 owed;       /* full ones that are to go back to the slabs */
} __attribute__((aligned(IW_ARCH_LINE_BYTES)));

struct ipcwait_pool {
	/* Read by every call, and never written after it is made. */
	struct ipcwait_impl_pool_head head;
	uint32_t rounds; /* objects in a magazine */
	uint32_t depots;
	size_t elem_bytes, stride;

	struct iw_slabs slabs __attribute__((aligned(IW_ARCH_LINE_BYTES)));
	struct iw_magazines magazines; /* under slabs.lock */
	struct ipcwait_word64 refills, trimmed, exchanges_of_the_gone;

	/* Under the lock of the caches. */
	struct iw_link *caches;
	struct iw_link of_all;

	struct iw_depot depot[];
};

/* Gives the two magazines of a thread back. Under the lock of the caches, or by their thread. */
void iw_pool_take_back(struct ipcwait_pool *pool, struct iw_cache *c);

/* Its objects go back to their slabs. */
void iw_pool_empty(struct ipcwait_pool *pool, struct iw_magazine *m);

/* A magazine that nobody has in hand goes where it belongs, which is the slabs for what is not a
 * full one. NULL does nothing. */
void iw_pool_shelve(struct ipcwait_pool *pool, struct iw_magazine *m);

/* One of the full magazines of a depot does. False: there is none. */
bool iw_pool_trim_one(struct ipcwait_pool *pool, struct iw_depot *d);

struct iw_depot *iw_pool_nearest(struct ipcwait_pool *pool);

/* An empty magazine, from @d if it has one; NULL: no memory. */
struct iw_magazine *iw_pool_empty_magazine(struct ipcwait_pool *pool, struct iw_depot *d);

/* In the child of a fork: whoever was at a shelf there has not counted to the end. */
void iw_pool_recount(struct ipcwait_pool *pool);

#endif
