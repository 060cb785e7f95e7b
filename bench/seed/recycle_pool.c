/* SPDX-License-Identifier: MIT */
/*
 * Buffers lie in a pool under a lock. One thread takes them from there and hands them over;
 * the other collects a batch and gives it back with the lock taken once. How many a take found
 * goes into a histogram with a column for each power of two.
 */
#include "figures.h"
#include "part.h"
#include "recycle.h"
#include "../../tools/common/complain.h"
#include "../peers/peers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

struct buffer {
	struct buffer *next;
	uint64_t uses;
};

struct pool {
	struct lock_room lock;
	struct lock_hold taker, giver;
	struct buffer *free;
	const struct lock_ops *ops;
	const struct recycle *plan;
	struct buffer buffers[BUFFERS];
	/* From the taker to the giver; as many slots as buffers, so it is never full. */
	struct buffer *slots[BUFFERS];
	_Alignas(128) atomic_uint_fast64_t handed;
	_Alignas(128) struct takes takes;
	_Alignas(128) uint64_t gives;
};

static struct pool pool;

static struct buffer *take_some(struct pool *p, uint64_t most)
{
	struct buffer *first, *last;

	p->ops->lock(&p->lock, &p->taker);
	first = p->free;
	last = first;
	for (uint64_t n = 1; last && n < most && last->next; n++)
		last = last->next;
	if (last) {
		p->free = last->next;
		last->next = NULL;
	}
	p->ops->unlock(&p->lock, &p->taker);
	return first;
}

static struct buffer *take_all(struct pool *p)
{
	struct buffer *first;

	p->ops->lock(&p->lock, &p->taker);
	first = p->free;
	p->free = NULL;
	p->ops->unlock(&p->lock, &p->taker);
	return first;
}

static uint64_t hand_over(struct pool *p, struct buffer *list, uint64_t handed)
{
	while (list && handed < p->plan->items) {
		struct buffer *next = list->next;

		p->slots[handed % BUFFERS] = list;
		atomic_store_explicit(&p->handed, ++handed, memory_order_release);
		list = next;
	}
	return handed;
}

static void *take(void *arg)
{
	struct pool *p = arg;
	uint64_t handed = 0, before = 0;

	part(1);
	while (handed < p->plan->items) {
		struct buffer *list =
			p->plan->take ? take_some(p, p->plan->take) : take_all(p);

		if (!list) {
			p->takes.empty++;
			sched_yield();
			continue;
		}
		before = handed;
		handed = hand_over(p, list, handed);
		takes_add(&p->takes, handed - before);
	}
	return NULL;
}

static void give(struct pool *p, struct buffer *first, struct buffer *last)
{
	p->ops->lock(&p->lock, &p->giver);
	last->next = p->free;
	p->free = first;
	p->ops->unlock(&p->lock, &p->giver);
	p->gives++;
}

static struct buffer *receive(struct pool *p, uint64_t number)
{
	while (atomic_load_explicit(&p->handed, memory_order_acquire) <= number)
		sched_yield();
	return p->slots[number % BUFFERS];
}

static void give_all(struct pool *p)
{
	struct buffer *first = NULL, *last = NULL;
	uint64_t collected = 0;

	for (uint64_t n = 0; n < p->plan->items; n++) {
		struct buffer *b = receive(p, n);

		b->uses++;
		b->next = first;
		first = b;
		last = last ? last : b;
		if (++collected < p->plan->give && n + 1 < p->plan->items)
			continue;
		give(p, first, last);
		first = NULL;
		last = NULL;
		collected = 0;
	}
}

static void fill(struct pool *p)
{
	p->ops->init(&p->lock);
	for (unsigned i = 0; i < BUFFERS; i++) {
		p->buffers[i].next = p->free;
		p->free = &p->buffers[i];
	}
}

/* Every item was some buffer's use. */
static bool uses_right(const struct pool *p)
{
	uint64_t uses = 0;

	for (unsigned i = 0; i < BUFFERS; i++)
		uses += p->buffers[i].uses;
	return uses == p->plan->items;
}

/* NULL if there is none of this name. */
static const struct lock_peer *find(const char *name)
{
	const struct lock_peer *peer = lock_peers;

	while (peer->name && strcmp(name, peer->name) != 0)
		peer++;
	return peer->name ? peer : NULL;
}

int recycle_pool(const struct recycle *r, struct json *j)
{
	struct figures f;
	pthread_t taker;
	bool right;

	pool.plan = r;
	pool.ops = find(r->how)->ops;
	fill(&pool);
	part(0);
	figures_begin(&f);
	if (pthread_create(&taker, NULL, take, &pool))
		give_up("cannot make a thread");
	give_all(&pool);
	pthread_join(taker, NULL);
	figures_end(&f, j);
	if (pool.ops->end)
		pool.ops->end(&pool.lock);
	takes_write(&pool.takes, j);
	json_whole(j, "gives", pool.gives);
	right = uses_right(&pool);
	json_boolean(j, "count_right", right);
	if (!right)
		complain("%s: buffers were lost or used twice", r->how);
	return right ? 0 : 1;
}

void recycle_pool_list(void)
{
	for (const struct lock_peer *p = lock_peers; p->name; p++)
		printf("pool\t%s\t%s\n", p->name, p->missing ? p->missing : "");
}

const char *recycle_pool_refuses(const char *how)
{
	const struct lock_peer *peer = find(how);

	return peer ? peer->missing : "there is no such lock, see --list";
}
