/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "os/fork.h"
#include "os/seam.h"
#include "os/thread_end.h"
#include "queue/cache.h"
#include "queue/lock.h"
#include "queue/pool.h"

/* Nearest, and most of the time all that is needed. */
__thread struct ipcwait_impl_pool_entry
	ipcwait_impl_pool_entries[IPCWAIT_IMPL_POOL_ENTRIES];

/* All of the thread's. */
static _Thread_local struct iw_link *mine IW_TLS_INITIAL_EXEC;

/* Under the lock. */
static struct ipcwait_mutex lock = { .flags = IPCWAIT_PRIVATE };
static struct iw_link *pools;
static uint64_t names;

/* Set before main(): the ends of threads, and forks, will be noticed. */
static bool hooked;

/* The thread has given all back: it does without from now on, since its end may have been told. */
static _Thread_local bool ended IW_TLS_INITIAL_EXEC;

void iw_caches_lock(void)
{
	iw_lock(&lock);
}

void iw_caches_unlock(void)
{
	iw_unlock(&lock);
}

static void forget(struct iw_cache *c)
{
	struct ipcwait_impl_pool_entry *e =
		&ipcwait_impl_pool_entries[c->name % IPCWAIT_IMPL_POOL_ENTRIES];

	if (e->cache == &c->hand)
		*e = (struct ipcwait_impl_pool_entry){ 0, NULL };
}

static void unlink_cache(struct iw_cache *c)
{
	iw_link_out(&c->of_pool);
	iw_link_out(&c->of_thread);
}

/* Without the lock: an allocator's own handler of a fork may have taken its locks before. */
static void free_all(struct iw_link *given)
{
	while (given) {
		struct iw_link *next = given->next;

		free(IW_LINKED(struct iw_cache, of_thread, given));
		given = next;
	}
}

static void give_all_back(void)
{
	struct iw_link *given = NULL;

	ended = true;
	iw_caches_lock();
	while (mine) {
		struct iw_cache *c = IW_LINKED(struct iw_cache, of_thread, mine);

		unlink_cache(c);
		forget(c);
		iw_pool_take_back(c->pool, c);
		iw_link_in(&c->of_thread, &given);
	}
	iw_caches_unlock();
	free_all(given);
}

/*
 * No slab is in the middle of anything when the process is copied. Threads may be in the middle of
 * taking or putting a magazine: that one is lost to the child, like those that they have in hand.
 */
static void before_fork(void)
{
	iw_caches_lock();
	for (struct iw_link *l = pools; l; l = l->next)
		iw_lock(&IW_LINKED(struct ipcwait_pool, of_all, l)->slabs.lock);
}

static void after_fork(void)
{
	for (struct iw_link *l = pools; l; l = l->next)
		iw_unlock(&IW_LINKED(struct ipcwait_pool, of_all, l)->slabs.lock);
	iw_caches_unlock();
}

static bool is_mine(const struct iw_cache *c)
{
	const struct iw_link *l = mine;

	while (l && l != &c->of_thread)
		l = l->next;
	return l;
}

/* What the other threads had in hand stays out; their lists are gone with them. */
static void orphan(struct iw_link *caches)
{
	for (struct iw_link *l = caches; l; l = l->next) {
		struct iw_cache *c = IW_LINKED(struct iw_cache, of_pool, l);

		if (!is_mine(c))
			c->of_thread = (struct iw_link){ NULL, NULL };
	}
}

/* The child has one thread, and locks without the waiters of the parent. */
static void after_fork_in_child(void)
{
	static const struct ipcwait_mutex unlocked = { .flags = IPCWAIT_PRIVATE };

	for (struct iw_link *l = pools; l; l = l->next) {
		struct ipcwait_pool *p = IW_LINKED(struct ipcwait_pool, of_all, l);

		orphan(p->caches);
		iw_pool_recount(p);
		p->slabs.lock = unlocked;
	}
	lock = unlocked;
}

static const struct iw_fork_hooks fork_hooks = {
	.before = before_fork,
	.in_parent = after_fork,
	.in_child = after_fork_in_child,
};

static IW_FORK_CONSTRUCTOR void hook(void)
{
	hooked = iw_thread_end_hook(give_all_back) &&
		 iw_fork_hook(IW_FORK_POOLS, &fork_hooks);
}

bool iw_caches_enter(struct ipcwait_pool *pool)
{
	if (!hooked)
		return false;
	iw_caches_lock();
	pool->head.name = ++names;
	iw_link_in(&pool->of_all, &pools);
	iw_caches_unlock();
	return true;
}

void iw_caches_leave(struct ipcwait_pool *pool)
{
	struct iw_link *given = NULL;

	iw_caches_lock();
	iw_link_out(&pool->of_all);
	while (pool->caches) {
		struct iw_cache *c = IW_LINKED(struct iw_cache, of_pool, pool->caches);

		unlink_cache(c);
		iw_link_in(&c->of_thread, &given);
	}
	iw_caches_unlock();
	free_all(given);
}

/* Does nothing without memory, or where the thread's end would not be noticed. */
static void make(struct ipcwait_pool *pool)
{
	struct iw_cache *c = aligned_alloc(_Alignof(struct iw_cache), sizeof(*c));
	struct iw_depot *d = iw_pool_nearest(pool);
	struct iw_magazine *loaded = iw_pool_empty_magazine(pool, d);
	struct iw_magazine *other = iw_pool_empty_magazine(pool, d);

	if (!c || !loaded || !other || !iw_thread_end_ask()) {
		iw_pool_shelve(pool, loaded);
		iw_pool_shelve(pool, other);
		free(c);
		return;
	}
	*c = (struct iw_cache){ .name = pool->head.name, .pool = pool, .previous = other };
	iw_cache_load(c, loaded, pool->rounds);
	iw_caches_lock();
	iw_link_in(&c->of_pool, &pool->caches);
	iw_link_in(&c->of_thread, &mine);
	iw_caches_unlock();
}

/* The lock: the end of another of the thread's pools may be taking a cache out of the list. */
static struct iw_cache *look_up(uint64_t name)
{
	struct iw_cache *found = NULL;

	iw_caches_lock();
	for (struct iw_link *l = mine; l && !found; l = l->next) {
		struct iw_cache *c = IW_LINKED(struct iw_cache, of_thread, l);

		found = c->name == name ? c : NULL;
	}
	iw_caches_unlock();
	return found;
}

struct iw_cache *iw_cache_known(const struct ipcwait_pool *pool)
{
	struct iw_cache *c = iw_cache_at_hand(pool->head.name);

	if (IPCWAIT_LIKELY(c))
		return c;
	c = look_up(pool->head.name);
	if (c)
		ipcwait_impl_pool_entries[c->name % IPCWAIT_IMPL_POOL_ENTRIES] =
			(struct ipcwait_impl_pool_entry){ c->name, &c->hand };
	return c;
}

struct iw_cache *iw_cache_find(struct ipcwait_pool *pool)
{
	struct iw_cache *c = iw_cache_known(pool);
	int saved_errno = errno;

	if (IPCWAIT_LIKELY(c) || ended)
		return c;
	make(pool);
	errno = saved_errno;
	return iw_cache_known(pool);
}
