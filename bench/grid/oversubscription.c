/* SPDX-License-Identifier: MIT */
/*
 * What remains when there are more threads than CPUs?
 *
 * kind:sem: pairs of threads hand 1 us of work back and forth by two semaphores (volley.h). One
 * operation is one round trip, with 1 us of work on either side; at most half of the threads
 * have anything to do. The time per operation is wall time over the trips of all pairs, which
 * do as many as they get to. "latency" is the round trip as a pair sees it.
 *
 * kind:lock: as many threads take one lock, 1 us under it and 1 us outside (lock_crowd.h).
 *
 * cpu_time is the CPU time per operation: what spinning takes from those who could work. No
 * thread is pinned. Not measured: who else is on the machine; a hog is part of wait_bench.
 */
#include "impls.h"
#include "lock_crowd.h"
#include "questions.h"
#include "volley.h"
#include "work.h"
#include "../common/place.h"

#define WORK_NS 1000

static const struct ratio {
	const char *name;
	unsigned halves; /* threads per two CPUs */
} ratios[] = { { "0.5", 1 }, { "1", 2 }, { "2", 4 }, { "4", 8 }, { "8", 16 } };

#define RATIOS (sizeof(ratios) / sizeof(*ratios))

struct cell {
	const struct sem_peer *peer;
	unsigned threads;
};

static void hand_over(struct bench_run *run, const void *arg)
{
	const struct cell *c = arg;
	struct volley v = { .ops = c->peer->ops, .pairs = c->threads / 2, .per_trip = 1 };

	v.steps = work_steps(WORK_NS);
	v.ipcwait = is_ipcwait(c->peer->name);
	if (is_missing(run, c->peer->missing))
		return;
	if (v.pairs)
		volley_time(run, &v);
	else
		bench_skip(run, "not available: a pair needs two threads, "
				"so this many per CPU need more CPUs");
}

static void add_sem(const struct sem_peer *peer, const struct ratio *r, unsigned threads)
{
	struct cell *c = zeroes_for_good(sizeof(*c));

	*c = (struct cell){ peer, threads };
	bench_add(hand_over, c, "oversubscription/kind:sem/impl:%s/threads_per_cpu:%s",
		  peer->name, r->name);
}

static void add_lock(const struct lock_peer *peer, const struct ratio *r, unsigned threads)
{
	struct lock_crowd *c = zeroes_for_good(sizeof(*c));

	*c = (struct lock_crowd){ peer, threads ? threads : 1, WORK_NS, WORK_NS };
	bench_add(time_lock_crowd, c,
		  "oversubscription/kind:lock/impl:%s/threads_per_cpu:%s", peer->name,
		  r->name);
}

void add_oversubscription(void)
{
	unsigned cpus = place_cpus(NULL, 0);
	const struct sem_peer *peer;

	for (unsigned i = 0; (peer = sem_impl(i)); i++)
		for (unsigned k = 0; k < RATIOS; k++)
			add_sem(peer, &ratios[k], ratios[k].halves * cpus / 2);
	for (const struct lock_peer *l = lock_peers; l->name; l++)
		for (unsigned k = 0; k < RATIOS; k++)
			add_lock(l, &ratios[k], ratios[k].halves * cpus / 2);
}
