/* SPDX-License-Identifier: MIT */
/*
 * Taking and putting back: the magazine in hand, the other one, the depot, the slabs, in turn.
 * The argument is in docs/design/pool.md.
 */
#include "os/cpu.h"
#include "os/seam.h"
#include "queue/lock.h"
#include "queue/poison.h"
#include "queue/pool.h"

/*
 * What a depot was down to in so long, in ns, nobody needs, and goes back, so many magazines at a
 * visit.
 */
#define TRIM_NS      1000000000
#define TRIM_A_VISIT 2

static void add(struct ipcwait_word64 *count, uint64_t n)
{
	/* ORD pool.X1: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(count, n);
}

static uint64_t sum(const struct ipcwait_word64 *count)
{
	/* ORD pool.X2: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(count);
}

struct iw_depot *iw_pool_nearest(struct ipcwait_pool *pool)
{
	return &pool->depot[pool->depots > 1 ? iw_cpu_node() % pool->depots : 0];
}

/* The depot after @d, the first one after the last. */
static struct iw_depot *next_depot(struct ipcwait_pool *pool, struct iw_depot *d)
{
	return ++d < pool->depot + pool->depots ? d : pool->depot;
}

static void note_least(struct iw_depot *d)
{
	uint32_t count = iw_shelf_count(&d->full);

	/* ORD pool.X3: relaxed, statistic: an update lost to another thread is harmless. */
	if (count < ipcwait_impl_load32_relaxed(&d->least))
		ipcwait_impl_store32_relaxed(&d->least, count);
}

/* From @d, else from any. */
static struct iw_magazine *take_full(struct ipcwait_pool *pool, struct iw_depot *d)
{
	struct iw_magazine *m = NULL;

	for (uint32_t i = 0; !m && i < pool->depots; i++, d = next_depot(pool, d)) {
		m = iw_shelf_take(&d->full, &pool->magazines);
		note_least(d);
	}
	return m;
}

struct iw_magazine *iw_pool_empty_magazine(struct ipcwait_pool *pool, struct iw_depot *d)
{
	struct iw_magazine *m = NULL;

	for (uint32_t i = 0; !m && i < pool->depots; i++, d = next_depot(pool, d))
		m = iw_shelf_take(&d->empty, &pool->magazines);
	if (m)
		return m;
	iw_lock(&pool->slabs.lock);
	m = iw_magazine_make(&pool->magazines);
	iw_unlock(&pool->slabs.lock);
	return m;
}

void iw_pool_recount(struct ipcwait_pool *pool)
{
	for (uint32_t i = 0; i < pool->depots; i++) {
		iw_shelf_recount(&pool->depot[i].full, &pool->magazines);
		iw_shelf_recount(&pool->depot[i].empty, &pool->magazines);
	}
}

void iw_pool_empty(struct ipcwait_pool *pool, struct iw_magazine *m)
{
	if (!m->count)
		return;
	add(&pool->refills, 1);
	iw_slabs_give(&pool->slabs, m->object, m->count);
	m->count = 0;
}

void iw_pool_shelve(struct ipcwait_pool *pool, struct iw_magazine *m)
{
	struct iw_depot *d = iw_pool_nearest(pool);

	if (!m)
		return;
	if (m->count == pool->rounds) {
		iw_shelf_put(&d->full, m);
		return;
	}
	iw_pool_empty(pool, m);
	iw_shelf_put(&d->empty, m);
}

void iw_pool_take_back(struct ipcwait_pool *pool, struct iw_cache *c)
{
	iw_pool_shelve(pool, iw_cache_unload(c));
	iw_pool_shelve(pool, c->previous);
	add(&pool->exchanges_of_the_gone, sum(&c->exchanges));
}

static void count_exchange(struct iw_cache *c)
{
	/* ORD pool.X4: relaxed, statistic: nobody else writes it. */
	ipcwait_impl_store64_relaxed(&c->exchanges, sum(&c->exchanges) + 1);
}

/* What was in hand is the other one from now on. */
static void load(const struct ipcwait_pool *pool, struct iw_cache *c, struct iw_magazine *m)
{
	c->previous = iw_cache_unload(c);
	iw_cache_load(c, m, pool->rounds);
}

static bool fill_from_slabs(struct ipcwait_pool *pool, struct iw_cache *c)
{
	uint32_t got = iw_slabs_take(&pool->slabs, c->hand.begin, pool->rounds);

	add(&pool->refills, got != 0);
	c->hand.top = c->hand.begin + got;
	return got;
}

/* The loaded magazine is empty. The other one is full or empty, here and below. */
static bool refill(struct ipcwait_pool *pool, struct iw_cache *c)
{
	struct iw_magazine *full = c->previous, *empty = c->previous;
	struct iw_depot *d;

	if (!full->count) {
		d = iw_pool_nearest(pool);
		full = take_full(pool, d);
		if (!full)
			return fill_from_slabs(pool, c);
		iw_shelf_put(&d->empty, empty);
		count_exchange(c);
	}
	load(pool, c, full);
	return true;
}

static void *take(const struct ipcwait_pool *pool, struct iw_cache *c)
{
	void *object = *--c->hand.top;

	iw_unpoison(object, pool->elem_bytes);
	return object;
}

bool iw_pool_trim_one(struct ipcwait_pool *pool, struct iw_depot *d)
{
	struct iw_magazine *m = iw_shelf_take(&d->full, &pool->magazines);

	if (!m)
		return false;
	add(&pool->trimmed, m->count);
	iw_pool_empty(pool, m);
	iw_shelf_put(&d->empty, m);
	return true;
}

static bool trim_any(struct ipcwait_pool *pool)
{
	for (uint32_t i = 0; i < pool->depots; i++)
		if (iw_pool_trim_one(pool, &pool->depot[i]))
			return true;
	return false;
}

/* For a thread that can have no magazines. What the slabs lack may lie in a depot. */
static void *get_without(struct ipcwait_pool *pool)
{
	void *object;

	while (!iw_slabs_take(&pool->slabs, &object, 1))
		if (!trim_any(pool))
			return NULL;
	iw_unpoison(object, pool->elem_bytes);
	return object;
}

void *ipcwait_impl_pool_get_slow(struct ipcwait_pool *pool)
{
	struct iw_cache *c = iw_cache_find(pool);

	if (!c)
		return get_without(pool);
	return c->hand.top != c->hand.begin || refill(pool, c) ? take(pool, c) : NULL;
}

/* What nobody has needed since the last time is owed to the slabs. */
static void settle_accounts(struct iw_depot *d)
{
	uint64_t now = (uint64_t)iw_clock_ns(), last = sum(&d->settled_at);
	/* Another thread's time may be a little ahead, and a parent's in another namespace far. */
	uint64_t apart = now > last ? now - last : last - now;

	/* ORD pool.X5: relaxed, no order needed: one of those who see that it is time does it. */
	if (apart < TRIM_NS || !ipcwait_impl_cas64_relaxed(&d->settled_at, &last, now))
		return;
	/* ORD pool.X6: relaxed, statistic, as pool.X3. */
	ipcwait_impl_store32_relaxed(&d->owed, ipcwait_impl_load32_relaxed(&d->least));
	ipcwait_impl_store32_relaxed(&d->least, iw_shelf_count(&d->full));
}

/* What has been needed after all is owed no more. */
static uint32_t still_owed(const struct iw_depot *d)
{
	/* ORD pool.X7: relaxed, statistic, as pool.X3. */
	uint32_t owed = ipcwait_impl_load32_relaxed(&d->owed);
	uint32_t least = ipcwait_impl_load32_relaxed(&d->least);

	return owed < least ? owed : least;
}

static void trim_some(struct ipcwait_pool *pool, struct iw_depot *d)
{
	uint32_t owed = still_owed(d);

	if (!owed) {
		settle_accounts(d);
		return;
	}
	for (int i = 0; i < TRIM_A_VISIT && owed; i++)
		owed = iw_pool_trim_one(pool, d) ? owed - 1 : 0;
	note_least(d);
	/* ORD pool.X8: relaxed, statistic, as pool.X3. */
	ipcwait_impl_store32_relaxed(&d->owed, owed);
}

/* The loaded magazine is full. */
static void make_room(struct ipcwait_pool *pool, struct iw_cache *c)
{
	struct iw_magazine *empty = c->previous, *full = c->previous;
	struct iw_depot *d;

	if (!empty->count) {
		load(pool, c, empty);
		return;
	}
	d = iw_pool_nearest(pool);
	empty = iw_pool_empty_magazine(pool, d);
	if (!empty) {
		iw_pool_empty(pool, full);
		load(pool, c, full);
		return;
	}
	load(pool, c, empty);
	iw_shelf_put(&d->full, full);
	count_exchange(c);
	trim_some(pool, d);
}

void ipcwait_impl_pool_put_slow(struct ipcwait_pool *pool, void *elem)
{
	struct iw_cache *c;

	if (!elem)
		return;
	iw_poison(elem, pool->stride);
	c = iw_cache_find(pool);
	if (!c) {
		iw_slabs_give(&pool->slabs, &elem, 1);
		return;
	}
	if (c->hand.top == c->hand.end)
		make_room(pool, c);
	*c->hand.top++ = elem;
}
