/* SPDX-License-Identifier: MIT */
#include "lock_crowd.h"
#include "crew.h"
#include "impls.h"
#include "meter.h"
#include "work.h"
#include "../common/clock.h"

#include <stdlib.h>

/* From this length of the section on every wait is measured. */
#define EACH_FROM_NS 10000
#define SAMPLED      16

struct worker {
	struct lock_hold hold;
	uint64_t ops; /* that count */
	uint64_t thought;
	struct histogram wait;
};

struct crowd {
	struct lock_room lock;
	_Alignas(128) uint64_t done; /* under the lock: operations that count */
	bool begun;                  /* under the lock: all are here, and all counts */
	_Alignas(128) uint64_t work; /* under the lock: the result */
	_Alignas(128) const struct lock_ops *ops;
	uint64_t total, section_steps, think_steps, sampled;
	unsigned threads;
	struct worker *workers;
	struct meter meter;
	_Alignas(128) unsigned here; /* threads that have come */
};

/*
 * Who comes may wait for its first turn for long, but it stands in the way of the others:
 * coming is enough.
 */
static void begin_if_all_here(struct crowd *c)
{
	if (__atomic_load_n(&c->here, __ATOMIC_RELAXED) < c->threads)
		return;
	c->begun = true;
	meter_begin(&c->meter);
}

enum turn { TURN_WARM, TURN_COUNTS, TURN_LAST, TURN_OVER };

/* Under the lock. */
static enum turn work_inside(struct crowd *c)
{
	if (!c->begun)
		begin_if_all_here(c);
	if (c->done == c->total)
		return TURN_OVER;
	c->work = clock_work(c->work, c->section_steps) + 1;
	if (!c->begun)
		return TURN_WARM;
	return ++c->done == c->total ? TURN_LAST : TURN_COUNTS;
}

static enum turn take_turn(struct crowd *c, struct worker *w)
{
	enum turn turn;

	c->ops->lock(&c->lock, &w->hold);
	turn = work_inside(c);
	c->ops->unlock(&c->lock, &w->hold);
	return turn;
}

static enum turn take_timed_turn(struct crowd *c, struct worker *w)
{
	int64_t begin = clock_now_ns(), wait_ns;
	enum turn turn;

	c->ops->lock(&c->lock, &w->hold);
	wait_ns = clock_now_ns() - begin;
	turn = work_inside(c);
	c->ops->unlock(&c->lock, &w->hold);
	/* One that goes on to the end is at least so long. */
	if (turn != TURN_WARM)
		histogram_add(&w->wait, (uint64_t)wait_ns);
	return turn;
}

static void work(struct crew *crew, unsigned index, void *arg)
{
	struct crowd *c = arg;
	struct worker *w = &c->workers[index];

	__atomic_fetch_add(&c->here, 1, __ATOMIC_RELAXED);
	for (uint64_t i = 0; !crew_is_late(crew); i++) {
		enum turn turn = i % c->sampled ? take_turn(c, w) : take_timed_turn(c, w);

		if (turn == TURN_OVER)
			return;
		w->ops += turn != TURN_WARM;
		/* Others may still want the lock. */
		if (turn == TURN_LAST)
			meter_end(&c->meter);
		w->thought = clock_work(w->thought, c->think_steps);
	}
}

static void report(struct crowd *c)
{
	struct histogram *wait = zeroes(1, sizeof(*wait));
	double squares = 0;
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->threads; i++) {
		uint64_t ops = c->workers[i].ops;

		histogram_merge(wait, &c->workers[i].wait);
		sum += ops;
		squares += (double)ops * (double)ops;
	}
	bench_latency(c->meter.run, c->sampled == 1 ? "wait" : "wait_sampled", wait);
	bench_counter(c->meter.run, "fairness_jain",
		      (double)sum * (double)sum / (c->threads * squares));
	if (sum != c->total)
		bench_skip(c->meter.run, "failed: two threads had the lock");
	free(wait);
}

void time_lock_crowd(struct bench_run *run, const void *arg)
{
	const struct lock_crowd *l = arg;
	struct crowd *c;

	if (is_missing(run, l->peer->missing))
		return;
	c = zeroes(1, sizeof(*c));
	c->ops = l->peer->ops;
	c->threads = l->threads;
	c->total = bench_operations(run);
	c->section_steps = work_steps(l->section_ns);
	c->think_steps = work_steps(l->think_ns);
	c->sampled = l->section_ns < EACH_FROM_NS && !l->each_wait ? SAMPLED : 1;
	c->workers = zeroes(l->threads, sizeof(*c->workers));
	c->meter.run = run;
	c->meter.futexes = futexes_of(l->peer->name);
	c->ops->init(&c->lock);
	if (crew_run(c->threads, work, c))
		report(c);
	else
		bench_skip(run, "%s", crew_late());
	if (c->ops->end)
		c->ops->end(&c->lock);
	free(c->workers);
	free(c);
}
