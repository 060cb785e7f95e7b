/* SPDX-License-Identifier: MIT */
#ifndef BENCH_PLACE_TALLY_H
#define BENCH_PLACE_TALLY_H

#include <stdint.h>

/* How often something was seen on each CPU; all zero at first. Higher numbers are left out. */
#define PLACE_TALLY_CPUS 1024

struct place_tally {
	uint64_t seen[PLACE_TALLY_CPUS];
};

void place_count(struct place_tally *t, int cpu);

/* The CPU on which it was seen most often, or -1: on none. */
int place_most_on(const struct place_tally *t);

#endif
