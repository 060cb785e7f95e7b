/* SPDX-License-Identifier: MIT */
/*
 * What does a condition variable cost, one waiter or many?
 *
 * op:pingpong: two threads hand a turn back and forth, each with a condition variable of its
 * own under one mutex. One operation is one hand-off; "latency" is half a round trip.
 *
 * op:broadcast: one thread wakes all waiters, each says under the mutex that it has seen it,
 * and the last wakes the first one. One operation is all of that; "latency" is from before the
 * broadcast to when each waiter has the mutex again, which they get one after the other.
 *
 * No thread is pinned. Not measured: waits with a deadline, a signal that nobody waits for.
 */
#include "crew.h"
#include "impls.h"
#include "meter.h"
#include "questions.h"
#include "../common/clock.h"

#include <stdbool.h>
#include <stdlib.h>

#define WARM_MOST 1000

struct cell {
	const struct cond_peer *peer;
	unsigned waiters;
};

struct scene {
	struct cond_room room;
	const struct cond_ops *ops;
	struct meter meter;
	uint64_t warm; /* operations */
	unsigned waiters;
	/* under the mutex */
	uint64_t total; /* operations; who gives up makes it what is done */
	uint64_t done;  /* hand-offs, or broadcasts that have begun */
	unsigned answers;
	int64_t stamp_ns;
	struct histogram latency;
};

static void count_one(struct scene *s)
{
	if (s->done == s->warm)
		meter_begin(&s->meter);
	s->done++;
}

static bool is_over(struct scene *s, const struct crew *crew)
{
	if (crew_is_late(crew))
		s->total = s->done;
	return s->done >= s->total;
}

static void hand_back(struct scene *s, const struct crew *crew, unsigned self)
{
	int64_t begin = 0, now;

	while (!is_over(s, crew)) {
		if (s->done % 2 != self) {
			s->ops->wait(&s->room, (int)self);
			continue;
		}
		if (!self) {
			now = clock_now_ns();
			if (s->done > s->warm + 1)
				histogram_add(&s->latency, (uint64_t)(now - begin) / 2);
			begin = now;
		}
		count_one(s);
		s->ops->signal(&s->room, !self);
	}
}

/* Whose hand-off was the last says so to the other, who may be waiting. */
static void ping_pong(struct crew *crew, unsigned self, void *arg)
{
	struct scene *s = arg;

	s->ops->lock(&s->room);
	hand_back(s, crew, self);
	if (s->done % 2 != self && !crew_is_late(crew))
		meter_end(&s->meter);
	s->ops->signal(&s->room, !self);
	s->ops->unlock(&s->room);
}

static void call_all(struct scene *s, const struct crew *crew)
{
	s->ops->lock(&s->room);
	while (!is_over(s, crew)) {
		count_one(s);
		s->answers = 0;
		s->stamp_ns = clock_now_ns();
		s->ops->broadcast(&s->room, 0);
		while (s->answers < s->waiters)
			s->ops->wait(&s->room, 1);
	}
	if (!crew_is_late(crew))
		meter_end(&s->meter);
	s->ops->broadcast(&s->room, 0);
	s->ops->unlock(&s->room);
}

/* The last broadcast may come without anything done: it was given up. */
static void answer(struct scene *s)
{
	uint64_t seen = 0;

	s->ops->lock(&s->room);
	while (seen < s->total) {
		if (s->done == seen) {
			s->ops->wait(&s->room, 0);
			continue;
		}
		seen = s->done;
		if (seen > s->warm)
			histogram_add(&s->latency,
				      (uint64_t)(clock_now_ns() - s->stamp_ns));
		if (++s->answers == s->waiters)
			s->ops->signal(&s->room, 1);
	}
	s->ops->unlock(&s->room);
}

static void broadcast(struct crew *crew, unsigned self, void *arg)
{
	if (self)
		answer(arg);
	else
		call_all(arg, crew);
}

static void run_scene(struct bench_run *run, const struct cell *c, crew_fn *fn)
{
	struct scene *s;

	if (is_missing(run, c->peer->missing))
		return;
	s = zeroes(1, sizeof(*s));
	s->ops = c->peer->ops;
	s->waiters = c->waiters;
	s->meter.run = run;
	s->meter.futexes = futexes_of(c->peer->name);
	s->warm = bench_operations(run) / 10 + 1;
	s->warm = s->warm < WARM_MOST ? s->warm : WARM_MOST;
	s->total = s->warm + bench_operations(run);
	s->ops->init(&s->room);
	if (crew_run(c->waiters + 1, fn, s))
		bench_latency(run, "latency", &s->latency);
	else
		bench_skip(run, "%s", crew_late());
	if (s->ops->end)
		s->ops->end(&s->room);
	free(s);
}

static void time_ping_pong(struct bench_run *run, const void *arg)
{
	run_scene(run, arg, ping_pong);
}

static void time_broadcast(struct bench_run *run, const void *arg)
{
	run_scene(run, arg, broadcast);
}

static struct cell *new_cell(const struct cond_peer *peer, unsigned waiters)
{
	struct cell *c = zeroes_for_good(sizeof(*c));

	*c = (struct cell){ peer, waiters };
	return c;
}

void add_condvar(void)
{
	static const unsigned waiters[] = { 4, 16, 64 };

	for (const struct cond_peer *p = cond_peers; p->name; p++) {
		bench_add(time_ping_pong, new_cell(p, 1), "condvar/op:pingpong/impl:%s",
			  p->name);
		for (unsigned i = 0; i < sizeof(waiters) / sizeof(*waiters); i++)
			bench_add(time_broadcast, new_cell(p, waiters[i]),
				  "condvar/op:broadcast/impl:%s/waiters:%u", p->name,
				  waiters[i]);
	}
}
