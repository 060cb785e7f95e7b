/* SPDX-License-Identifier: MIT */
/*
 * How far apart are the CPUs? A hand-off between each ordered pair of them.
 *
 * One operation is half a round trip of a token between two threads, each pinned to its CPU, by
 * the two plain semaphores: "spin" shows what a cache line costs to get across, "sleep" what a
 * wake-up costs. The thread on "from" serves and takes the time. Both directions are there,
 * because where they differ the reason is not the distance.
 *
 * At most 16 CPUs, evenly chosen; where there are more, one row says so. Not measured: threads
 * that move, and libipcwait: who waits is another question, and its numbers would change with
 * what it learns.
 */
#include "impls.h"
#include "questions.h"
#include "volley.h"
#include "../../tools/common/place.h"

#include <stdio.h>
#include <stdlib.h>

#define CPUS_MOST   1024
#define CHOSEN_MOST 16

static const struct kind {
	const char *name;
	const struct sem_ops *ops;
} kinds[] = { { "spin", &sem_spin }, { "sleep", &sem_block } };

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void between(struct bench_run *run, const void *arg)
{
	volley_time(run, arg);
}

static void add_pair(const struct kind *kind, unsigned from, unsigned to)
{
	struct volley *v = zeroes_for_good(sizeof(*v));

	*v = (struct volley){ .ops = kind->ops, .pairs = 1, .per_trip = 2 };
	v->place = PLACE_PINNED;
	v->futexes = FUTEXES_RAW;
	v->cpus[0] = from;
	v->cpus[1] = to;
	bench_add(between, v, "pairs/kind:%s/from:%u/to:%u", kind->name, from, to);
}

static void add_kind(const struct kind *kind, const unsigned *cpus, unsigned n)
{
	for (unsigned from = 0; from < n; from++)
		for (unsigned to = 0; to < n; to++)
			if (from != to)
				add_pair(kind, cpus[from], cpus[to]);
}

/* Returns how many there are. */
static unsigned choose(unsigned chosen[CHOSEN_MOST], unsigned usable, const unsigned *cpus)
{
	unsigned listed = usable < CPUS_MOST ? usable : CPUS_MOST;
	unsigned n = listed < CHOSEN_MOST ? listed : CHOSEN_MOST;

	for (unsigned i = 0; i < n; i++)
		chosen[i] = cpus[(size_t)i * listed / n];
	return n;
}

void add_pairs(void)
{
	static char left_out[80];
	unsigned cpus[CPUS_MOST], chosen[CHOSEN_MOST];
	unsigned usable = place_cpus(cpus, CPUS_MOST);
	unsigned n = choose(chosen, usable, cpus);

	snprintf(left_out, sizeof(left_out), "not available: %u of %u CPUs are measured", n,
		 usable);
	for (unsigned i = 0; i < KINDS; i++) {
		add_kind(&kinds[i], chosen, n);
		if (usable > n)
			bench_add(not_there, left_out,
				  "pairs/kind:%s/from:others/to:others", kinds[i].name);
		if (n < 2)
			bench_add(not_there, needs_two_cpus(),
				  "pairs/kind:%s/from:any/to:any", kinds[i].name);
	}
}
