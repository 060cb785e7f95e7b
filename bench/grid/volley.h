/* SPDX-License-Identifier: MIT */
/*
 * Pairs of threads that hand work back and forth by two semaphores: at any moment one of the
 * pair works and the other waits. All pairs together do a given number of round trips, each as
 * many as it gets to, so that none is left to play alone at the end.
 */
#ifndef BENCH_VOLLEY_H
#define BENCH_VOLLEY_H

#include "meter.h"
#include "../peers/sem_peer.h"
#include "../shim/bench.h"

#include <stdint.h>

enum volley_place {
	PLACE_FREE,  /* the scheduler decides */
	PLACE_APART, /* it does after the two have begun on different cores, or else CPUs */
	PLACE_PINNED, /* to @cpus */
};

struct volley {
	const struct sem_ops *ops;
	unsigned pairs;
	uint64_t steps;          /* of clock_work(), on either side of a hand-off */
	unsigned per_trip;       /* operations in a round trip: 1, or 2 for hand-offs */
	enum volley_place place; /* where it is not free: of one pair */
	unsigned cpus[2];
	enum futexes futexes;
};

/*
 * A whole benchmark. "latency" is the time of an operation, as the first of each pair sees it, in
 * every 16th of its round trips: two readings of the clock may take as long as a hand-off. In a
 * run of less than 16000 trips it is more of them, so that there are 1000 or all.
 *
 * Of one pair that has a place, "cpu_waker" and "cpu_waiter" are the CPUs of the first and the
 * second, and "same_core" is 1 if they are of one core, else 0. Where the two may move these are
 * where they were most of the time, and "same_cpu_share" tells how often they met on one CPU; both
 * are looked at in the same trips as the clock.
 */
void volley_time(struct bench_run *run, const struct volley *v);

#endif
