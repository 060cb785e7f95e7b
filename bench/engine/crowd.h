/* SPDX-License-Identifier: MIT */
/*
 * Pairs of threads that hand work back and forth, in a process of their own: fewer CPUs, a
 * hog or a quota hold for that process only, and every run meets a library that knows
 * nothing yet.
 */
#ifndef WAIT_BENCH_CROWD_H
#define WAIT_BENCH_CROWD_H

#include "../peers/sem_peer.h"

#include <stdbool.h>
#include <stdint.h>

struct crowd {
	unsigned pairs;
	unsigned cpus; /* that it may use, the first ones; fewer where there are fewer */
	bool hog;      /* beside a process that is busy all the time */
	const char *group; /* the folder of the control group it runs in; NULL: ours */
	uint64_t steps;    /* of clock_work(), on either side of a hand-off */
};

struct crowd_cost {
	double seconds;     /* from the first thread's start to the last one's end */
	double cpu_seconds; /* of the pairs' process, meanwhile */
};

/* Every pair goes back and forth @trips times, after a tenth as many that do not count. */
void crowd_run(const struct crowd *c, const struct sem_ops *ops, uint64_t trips,
	       struct crowd_cost *cost);

#endif
