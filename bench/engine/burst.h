/* SPDX-License-Identifier: MIT */
/*
 * Pairs that begin all at once in a process that has done nothing before, and what they get
 * done: nothing is warmed up, every hand-off counts from the first.
 */
#ifndef WAIT_BENCH_BURST_H
#define WAIT_BENCH_BURST_H

#include "turn.h"

#include <stdbool.h>
#include <stdint.h>

#define BURST_PHASES_MOST 3

struct burst_phase {
	uint64_t steps; /* of clock_work() before each post */
	uint64_t turns; /* that each is to have; 0: as many as there is time for */
};

struct burst {
	unsigned pairs;
	bool processes; /* two for each pair, and not two threads */
	bool one_cpu;   /* all begin on one CPU, and may go where they like from there */
	bool stays;     /* with one_cpu: they stay there */
	bool moves;     /* the library may move their threads */
	bool items;     /* the first of a pair works beside the other, as in sem_test */
	int nice;       /* of the pairs */
	unsigned hogs;  /* busy processes beside them */
	/* One after the other, up to the first without turns; phases[0] is always one. */
	struct burst_phase phases[BURST_PHASES_MOST];
	int64_t window_ns; /* where there is no number: the time */
};

/* Of a phase, all pairs together. */
struct burst_cost {
	double seconds; /* the longest that any thread or process took */
	double cpu_seconds;
};

struct burst_result {
	double seconds;
	double cpu_seconds; /* of the pairs, from their creation on */
	double hand_offs;
	struct burst_cost phases[BURST_PHASES_MOST]; /* where there is a number of turns */
};

void burst_run(const struct burst *b, const struct turn *turn, struct burst_result *result);

#endif
