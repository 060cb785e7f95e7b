/* SPDX-License-Identifier: MIT */
/*
 * glibc's PTHREAD_MUTEX_ADAPTIVE_NP: nptl/pthread_mutex_lock.c, state of January 2026.
 *
 *	limit = min(glibc.pthread.mutex_spin_count, 2 * average + 10)
 *	average += (probes - average) / 8		after success and failure
 *
 * One pause per probe, 26 ns. (x86-64 groups the pauses and counts them all the same.)
 * The division is C's, toward zero. A failure counts limit + 1 probes, so the limit grows
 * to its maximum on waits that never end in the spin.
 */
#include "rule.h"

#define SPIN_COUNT_MAX 100

struct glibc {
	int average;
};

static int limit(const struct glibc *g)
{
	int adaptive = 2 * g->average + 10;

	return adaptive < SPIN_COUNT_MAX ? adaptive : SPIN_COUNT_MAX;
}

static void glibc_init(void *state, uint64_t block_ns)
{
	(void)state;
	(void)block_ns;
}

static uint64_t glibc_spin_ns(void *state, struct random *r)
{
	(void)r;
	return (uint64_t)limit(state) * PAUSE_NS;
}

static void glibc_learn(void *state, const struct outcome *o)
{
	struct glibc *g = state;
	int probes = o->spun ? (int)(o->wait_ns / PAUSE_NS) + 1 : limit(g) + 1;

	g->average += (probes - g->average) / 8;
}

const struct rule rule_glibc = {
	.name = "glibc",
	.what = "adaptive mutex: min(100, 2 x average + 10) pauses",
	.init = glibc_init,
	.spin_ns = glibc_spin_ns,
	.learn = glibc_learn,
};
