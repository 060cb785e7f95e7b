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
 * A ratio that these CPUs cannot have exactly, as 0.5 on three of them, is skipped.
 *
 * cpu_time is the CPU time per operation: what spinning takes from those who could work. No
 * thread is pinned. Not measured: who else is on the machine; a hog is part of wait_bench.
 */
#include "impls.h"
#include "lock_crowd.h"
#include "questions.h"
#include "volley.h"
#include "work.h"
#include "../../tools/common/place.h"

#define WORK_NS 1000

static const struct ratio {
	const char *name;
	unsigned halves; /* threads per two CPUs */
} ratios[] = { { "0.5", 1 }, { "1", 2 }, { "2", 4 }, { "4", 8 }, { "8", 16 } };

#define RATIOS (sizeof(ratios) / sizeof(*ratios))

struct sem_cell {
	const struct sem_peer *peer;
	unsigned threads;
};

/* NULL, or why these CPUs cannot have so many threads each, in whole pairs if @pairs. */
static const char *not_exact(unsigned halves, unsigned cpus, bool pairs)
{
	if (halves * cpus % 2)
		return "not available: this many threads per CPU are no whole number "
		       "on so many CPUs";
	if (pairs && halves * cpus / 2 % 2)
		return "not available: this many threads per CPU are no whole number "
		       "of pairs on so many CPUs";
	return NULL;
}

static void hand_over(struct bench_run *run, const void *arg)
{
	const struct sem_cell *c = arg;
	struct volley v = { .ops = c->peer->ops, .pairs = c->threads / 2, .per_trip = 1 };

	v.steps = work_steps(WORK_NS);
	v.futexes = futexes_of(c->peer->name);
	volley_time(run, &v);
}

/* Measure @arg, unless there is a reason @why not. */
static void add(bench_fn *fn, const void *arg, const char *why, const char *kind,
		const char *impl, const struct ratio *r)
{
	bench_add(why ? not_there : fn, why ? why : arg,
		  "oversubscription/kind:%s/impl:%s/threads_per_cpu:%s", kind, impl,
		  r->name);
}

static void add_sem(const struct sem_peer *peer, const struct ratio *r, unsigned cpus)
{
	struct sem_cell *c = zeroes_for_good(sizeof(*c));

	*c = (struct sem_cell){ peer, r->halves * cpus / 2 };
	add(hand_over, c, peer->missing ? peer->missing : not_exact(r->halves, cpus, true),
	    "sem", peer->name, r);
}

static void add_lock(const struct lock_peer *peer, const struct ratio *r, unsigned cpus)
{
	struct lock_crowd *c = zeroes_for_good(sizeof(*c));

	*c = (struct lock_crowd){ peer, r->halves * cpus / 2, WORK_NS, WORK_NS, false };
	add(time_lock_crowd, c,
	    peer->missing ? peer->missing : not_exact(r->halves, cpus, false), "lock",
	    peer->name, r);
}

void add_oversubscription(void)
{
	unsigned cpus = place_cpus(NULL, 0);
	const struct sem_peer *peer;

	for (unsigned i = 0; (peer = sem_impl(i)); i++)
		for (unsigned k = 0; k < RATIOS; k++)
			add_sem(peer, &ratios[k], cpus);
	for (const struct lock_peer *l = lock_peers; l->name; l++)
		for (unsigned k = 0; k < RATIOS; k++)
			add_lock(l, &ratios[k], cpus);
}
