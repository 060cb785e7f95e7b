/* SPDX-License-Identifier: MIT */
/* A pool as a whole: made, trimmed, counted, ended. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "env/nodes.h"
#include "queue/lock.h"
#include "queue/params.h"
#include "queue/pool.h"

/* A magazine holds so many bytes of objects, from two of them to IW_MAGAZINE_MOST. */
#define MAGAZINE_BYTES 32768

/* glibc's malloc(3). */
#define ALIGN 16

static bool valid(const struct ipcwait_pool_params *p)
{
	if (!p)
		return false;
	return p->elem_size && p->elem_size <= IPCWAIT_POOL_ELEM_MAX &&
	       p->elem_align <= IPCWAIT_POOL_ALIGN_MAX &&
	       !(p->elem_align & (p->elem_align - 1)) && p->magazine <= IW_MAGAZINE_MOST &&
	       iw_reserved_is_zero(p->reserved);
}

static uint32_t rounds(const struct ipcwait_pool_params *p, size_t stride)
{
	size_t fit = MAGAZINE_BYTES / stride;

	if (p->magazine)
		return p->magazine;
	if (fit < 2)
		return 2;
	return fit < IW_MAGAZINE_MOST ? (uint32_t)fit : IW_MAGAZINE_MOST;
}

static struct ipcwait_pool *allocate(uint32_t depots)
{
	size_t align = _Alignof(struct ipcwait_pool), bytes;
	struct ipcwait_pool *pool;

	bytes = sizeof(*pool) + depots * sizeof(struct iw_depot);
	bytes = (bytes + align - 1) & ~(align - 1);
	pool = aligned_alloc(align, bytes);
	if (pool)
		memset(pool, 0, bytes);
	return pool;
}

int ipcwait_pool_create(const struct ipcwait_pool_params *params,
			struct ipcwait_pool **pool)
{
	int saved_errno = errno;
	struct ipcwait_pool *p;
	uint32_t depots;

	if (!valid(params) || !pool)
		return -EINVAL;
	depots = iw_nodes(IW_DEPOTS_MOST);
	p = allocate(depots);
	errno = saved_errno;
	if (!p)
		return -ENOMEM;
	iw_slabs_init(&p->slabs, params->elem_size,
		      params->elem_align ? params->elem_align : ALIGN, params->max_elems);
	p->depots = depots;
	p->elem_bytes = params->elem_size;
	p->stride = p->slabs.stride;
	p->rounds = p->magazines.rounds = rounds(params, p->stride);
	if (!iw_caches_enter(p)) {
		free(p);
		return -ENOMEM;
	}
	*pool = p;
	return 0;
}

void ipcwait_pool_destroy(struct ipcwait_pool *pool)
{
	if (!pool)
		return;
	iw_caches_leave(pool);
	iw_slabs_free(&pool->slabs);
	iw_magazines_free(&pool->magazines);
	free(pool);
}

static uint64_t bytes_given_back(struct ipcwait_pool *pool)
{
	uint64_t bytes;

	iw_lock(&pool->slabs.lock);
	bytes = pool->slabs.unmapped * pool->slabs.slab_bytes;
	iw_unlock(&pool->slabs.lock);
	return bytes;
}

/* What is there now, and not what others put there meanwhile. */
static void trim_depot(struct ipcwait_pool *pool, struct iw_depot *d)
{
	uint32_t n = iw_shelf_count(&d->full);

	while (n && iw_pool_trim_one(pool, d))
		n--;
}

size_t ipcwait_pool_trim(struct ipcwait_pool *pool)
{
	struct iw_cache *c = iw_cache_known(pool);
	uint64_t before = bytes_given_back(pool);

	if (c) {
		iw_pool_empty(pool, iw_cache_unload(c));
		c->hand.top = c->hand.begin;
		iw_pool_empty(pool, c->previous);
	}
	for (uint32_t i = 0; i < pool->depots; i++)
		trim_depot(pool, &pool->depot[i]);
	iw_slabs_trim(&pool->slabs);
	return (size_t)(bytes_given_back(pool) - before);
}

static uint64_t read64(const struct ipcwait_word64 *count)
{
	/* ORD pool_life.X1: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(count);
}

static void count_caches(const struct ipcwait_pool *pool, struct ipcwait_pool_stats *st)
{
	st->exchanges = read64(&pool->exchanges_of_the_gone);
	for (const struct iw_link *l = pool->caches; l; l = l->next) {
		/* A child of fork(2) has those of its parent's threads. */
		st->threads += IW_LINKED(struct iw_cache, of_pool, l)->of_thread.at != NULL;
		st->exchanges += read64(&IW_LINKED(struct iw_cache, of_pool, l)->exchanges);
	}
}

static void count_slabs(struct ipcwait_pool *pool, struct ipcwait_pool_stats *st)
{
	for (uint32_t i = 0; i < pool->depots; i++)
		st->cached += (uint64_t)iw_shelf_count(&pool->depot[i].full) * pool->rounds;
	iw_lock(&pool->slabs.lock);
	st->bytes = pool->slabs.slabs * pool->slabs.slab_bytes;
	st->used = pool->slabs.out;
	iw_unlock(&pool->slabs.lock);
	st->used = st->used > st->cached ? st->used - st->cached : 0;
	st->refills = read64(&pool->refills);
	st->trimmed = read64(&pool->trimmed);
}

int ipcwait_pool_stats_get(struct ipcwait_pool *pool, struct ipcwait_pool_stats *st,
			   size_t size)
{
	struct ipcwait_pool_stats all = { 0 };

	if (!pool || !st || size < sizeof(all.size))
		return -EINVAL;
	all.size = size < sizeof(all) ? size : sizeof(all);
	iw_caches_lock();
	count_caches(pool, &all);
	iw_caches_unlock();
	count_slabs(pool, &all);
	memcpy(st, &all, all.size);
	return (int)all.size;
}
