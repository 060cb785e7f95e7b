/* SPDX-License-Identifier: MIT */
/* Where threads run. */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

#include <stdint.h>

/* The number of CPUs that the caller may use. The first @most of them go to @list. */
unsigned place_cpus(unsigned *list, unsigned most);

/*
 * From now on the calling thread, and the threads and processes it makes, run on these CPUs
 * only. A failure ends the program.
 */
void place_on(const unsigned *cpus, unsigned n);

/* The same, but begin on the first of them, away from what is pinned to another. */
void place_apart(const unsigned *cpus, unsigned n);

/*
 * Reorder the list so that its first two CPUs are not of one core, where there are two that are
 * not: two threads on one core take from each other what the core can do.
 */
void place_two_cores(unsigned *cpus, unsigned n);

/* Are the two CPUs of one core? 1 or 0, or -1 if the system does not say. */
int place_same_core(unsigned a, unsigned b);

/* How often something was seen on each CPU; all zero at first. Higher numbers are left out. */
#define PLACE_TALLY_CPUS 1024

struct place_tally {
	uint64_t seen[PLACE_TALLY_CPUS];
};

void place_count(struct place_tally *t, int cpu);

/* The CPU on which it was seen most often, or -1: on none. */
int place_most_on(const struct place_tally *t);

#endif
