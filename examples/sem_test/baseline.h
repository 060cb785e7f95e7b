/* SPDX-License-Identifier: MIT */
/*
 * What the machine can do without any semaphore.
 */
#ifndef SEM_TEST_BASELINE_H
#define SEM_TEST_BASELINE_H

#include "job.h"

/* ns that one loop of work() takes, median of many. */
double baseline_loop_ns(struct arena *a);

/*
 * ns for a cache line to go to another CPU and back, between two spinning threads that
 * nobody disturbs: nine of ten batches took longer. NAN where fewer than two CPUs are usable.
 */
double baseline_round_trip_ns(struct arena *a);

/*
 * Seconds that the work alone takes for a->items and a->loops: the producer's, and on one
 * CPU the consumer's as well. @checksum is what a->worker[0] of a run must come to.
 */
double baseline_bound_seconds(struct arena *a, struct job_watcher *watcher,
			      uint64_t *checksum);

#endif
