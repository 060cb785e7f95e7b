/* SPDX-License-Identifier: MIT */
/*
 * How fast do items get through a queue?
 *
 * One operation is one item, pushed by one of the producers and popped by one of the consumers;
 * whoever finds the queue full or empty yields and tries again. Each side does its operations
 * together (shares.h). "empty_per_op" and "full_per_op" count the tries in vain. The sum of what
 * arrives is checked; the order of each producer is checked by the scoreboard's queue_test.
 *
 * Not measured: consumers that wait in the queue, as most of these cannot; a latency; whether
 * memory is given back.
 */
#include "crew.h"
#include "impls.h"
#include "meter.h"
#include "questions.h"
#include "shares.h"
#include "../../tools/common/place.h"
#include "../seed/queue_peer.h"

#include <sched.h>
#include <stdlib.h>

#define CAPACITY 4096 /* the seed's ring */

struct cell {
	const struct queue_peer *peer;
	unsigned producers, consumers;
};

struct worker {
	_Alignas(128) uint64_t sum, in_vain;
};

struct scene {
	const struct cell *cell;
	void *queue;
	struct meter meter;
	struct worker *workers; /* producers, then consumers */
	struct shares to_push, to_pop;
	_Alignas(128) unsigned to_come, to_leave;
	bool begun;
};

static void produce(struct scene *s, struct worker *w, struct crew *crew)
{
	uint64_t first, n;

	while ((n = shares_take(&s->to_push, &first)))
		while (n && !crew_is_late(crew))
			if (s->cell->peer->push(s->queue, first + n)) {
				n--;
			} else {
				w->in_vain++;
				sched_yield();
			}
}

static void consume(struct scene *s, struct worker *w, struct crew *crew)
{
	uint64_t first, n, value;

	while ((n = shares_take(&s->to_pop, &first)))
		while (n && !crew_is_late(crew))
			if (s->cell->peer->pop(s->queue, &value)) {
				w->sum += value;
				n--;
			} else {
				w->in_vain++;
				sched_yield();
			}
}

/* The last to come begins; the others are awake. */
static void wait_for_all(struct scene *s, const struct crew *crew)
{
	if (!__atomic_sub_fetch(&s->to_come, 1, __ATOMIC_RELAXED)) {
		meter_begin(&s->meter);
		__atomic_store_n(&s->begun, true, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&s->begun, __ATOMIC_ACQUIRE) && !crew_is_late(crew))
		sched_yield();
}

static void work(struct crew *crew, unsigned index, void *arg)
{
	struct scene *s = arg;
	struct worker *w = &s->workers[index];

	wait_for_all(s, crew);
	if (index < s->cell->producers)
		produce(s, w, crew);
	else
		consume(s, w, crew);
	if (!__atomic_sub_fetch(&s->to_leave, 1, __ATOMIC_ACQ_REL) && !crew_is_late(crew))
		meter_end(&s->meter);
}

static void report(const struct scene *s)
{
	unsigned producers = s->cell->producers, all = producers + s->cell->consumers;
	uint64_t n = s->to_push.total, sum = 0, full = 0, empty = 0;

	for (unsigned i = 0; i < all; i++) {
		sum += s->workers[i].sum;
		*(i < producers ? &full : &empty) += s->workers[i].in_vain;
	}
	bench_counter(s->meter.run, "full_per_op", (double)full / (double)n);
	bench_counter(s->meter.run, "empty_per_op", (double)empty / (double)n);
	if (sum != n * (n + 1) / 2)
		bench_skip(s->meter.run, "failed: items were lost, changed or came twice");
}

static struct scene *new_scene(struct bench_run *run, const struct cell *c)
{
	const struct queue_shape shape = { CAPACITY, c->producers, c->consumers };
	struct scene *s = zeroes(1, sizeof(*s));

	s->cell = c;
	s->queue = c->peer->create(&shape);
	s->meter.run = run;
	s->to_come = s->to_leave = c->producers + c->consumers;
	s->workers = zeroes(s->to_come, sizeof(*s->workers));
	shares_init(&s->to_push, bench_operations(run), c->producers);
	shares_init(&s->to_pop, bench_operations(run), c->consumers);
	return s;
}

static const char *unfit(const struct cell *c)
{
	unsigned threads = c->producers + c->consumers;

	if (c->peer->one_to_one && threads > 2)
		return "not available: for one producer and one consumer only";
	if (c->peer->one_consumer && c->consumers > 1)
		return "not available: for one consumer only";
	if (c->peer->in_turn && threads > place_cpus(NULL, 0))
		return "not available: its producers spin until it is their turn, "
		       "which needs a CPU for each thread";
	return NULL;
}

static void pass_items(struct bench_run *run, const void *arg)
{
	const struct cell *c = arg;
	struct scene *s;

	if (is_missing(run, c->peer->missing) || is_missing(run, unfit(c)))
		return;
	s = new_scene(run, c);
	if (!s->queue)
		bench_skip(run, "failed: no memory");
	else if (crew_run(c->producers + c->consumers, work, s))
		report(s);
	else
		bench_skip(run, "%s", crew_late());
	if (s->queue)
		c->peer->destroy(s->queue);
	free(s->workers);
	free(s);
}

static void add_peer(const struct queue_peer *peer)
{
	static const unsigned threads[] = { 1, 4 }; /* on either side */

	for (unsigned i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		struct cell *c = zeroes_for_good(sizeof(*c));

		*c = (struct cell){ peer, threads[i], threads[i] };
		bench_add(pass_items, c, "queue/impl:%s/producers:%u/consumers:%u",
			  peer->name, threads[i], threads[i]);
	}
}

void add_queue(void)
{
	for (unsigned i = 0; i < queue_peer_count; i++)
		add_peer(queue_peers[i]);
}
