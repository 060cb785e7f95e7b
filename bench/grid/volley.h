/* SPDX-License-Identifier: MIT */
/*
 * Pairs of threads that hand work back and forth by two semaphores: at any moment one of the
 * pair works and the other waits. All pairs together do a given number of round trips, each as
 * many as it gets to, so that none is left to play alone at the end.
 */
#ifndef BENCH_VOLLEY_H
#define BENCH_VOLLEY_H

#include "../peers/sem_peer.h"
#include "../shim/bench.h"

#include <stdbool.h>
#include <stdint.h>

enum volley_place {
	PLACE_FREE,   /* the scheduler decides */
	PLACE_APART,  /* it does after the two have begun on different CPUs */
	PLACE_PINNED, /* to @cpus */
};

struct volley {
	const struct sem_ops *ops;
	unsigned pairs;
	uint64_t steps;          /* of clock_work(), on either side of a hand-off */
	unsigned per_trip;       /* operations in a round trip: 1, or 2 for hand-offs */
	enum volley_place place; /* where it is not free: of one pair */
	unsigned cpus[2];
	bool ipcwait;
};

/*
 * A whole benchmark. "latency" is the time of an operation, as the first of each pair sees it.
 * With PLACE_APART, "same_cpu_share" tells how often the two met on one CPU.
 */
void volley_time(struct bench_run *run, const struct volley *v);

#endif
