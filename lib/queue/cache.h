/* SPDX-License-Identifier: MIT */
/*
 * What one thread keeps of one pool: two magazines. A thread finds its own by the pool's name,
 * which is never used again, in a few entries of thread-local storage. All caches of a pool, and
 * all of a thread, are in lists, so that either of the two may end first: whoever does frees them.
 *
 * The lists are read and changed under iw_caches_lock() only. What an entry points to is there as
 * long as a pool of its name is.
 */
#ifndef IW_QUEUE_CACHE_H
#define IW_QUEUE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/pool.h>

#include "queue/list.h"
#include "queue/magazine.h"

struct iw_cache {
	struct ipcwait_impl_pool_cache hand; /* the loaded magazine, <ipcwait/pool.h> */
	struct iw_magazine *loaded, *previous;
	uint64_t name;                   /* of its pool */
	struct ipcwait_word64 exchanges; /* written by its thread only */
	struct ipcwait_pool *pool;
	struct iw_link of_pool, of_thread; /* in the lists of its pool and of its thread */
} __attribute__((aligned(IW_ARCH_LINE_BYTES)));

/* @m is in hand from now on. */
static inline void iw_cache_load(struct iw_cache *c, struct iw_magazine *m, uint32_t rounds)
{
	c->loaded = m;
	c->hand.begin = m->object;
	c->hand.top = m->object + m->count;
	c->hand.end = m->object + rounds;
}

/* The loaded magazine knows what it holds. */
static inline struct iw_magazine *iw_cache_unload(struct iw_cache *c)
{
	c->loaded->count = (uint32_t)(c->hand.top - c->hand.begin);
	return c->loaded;
}

/* The thread's cache of the pool with that name, if it is at hand; else NULL. */
static inline struct iw_cache *iw_cache_at_hand(uint64_t name)
{
	const struct ipcwait_impl_pool_entry *e =
		&ipcwait_impl_pool_entries[name % IPCWAIT_IMPL_POOL_ENTRIES];

	return e->name == name ? (struct iw_cache *)(void *)e->cache : NULL;
}

/* If it has one; NULL if not. Afterwards it is at hand. */
struct iw_cache *iw_cache_known(const struct ipcwait_pool *pool);

/* The same, found or made: NULL if there is no memory. */
struct iw_cache *iw_cache_find(struct ipcwait_pool *pool);

void iw_caches_lock(void);
void iw_caches_unlock(void);

/* A new pool's name, from 1. @pool is known to forks from now on. False: no memory. */
bool iw_caches_enter(struct ipcwait_pool *pool);

/* The pool ends: no thread will find it any more. Not under the lock. */
void iw_caches_leave(struct ipcwait_pool *pool);

#endif
