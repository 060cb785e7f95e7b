/* SPDX-License-Identifier: MIT */
/*
 * Threads that want one lock. In the section each changes two cache lines that all share.
 *
 * One operation is one lock and unlock with its section, and the time outside that belongs to
 * it. The number of operations is given for all threads together, is counted under the lock,
 * and each does as many as it gets to. With a number for each thread, those that are starved
 * would run alone at the end; a window of time would not need that, but the number of
 * operations is what Google Benchmark asks for and divides by.
 *
 * Beside the time, which is wall time over the operations of all threads:
 *
 *	wait           from before the call until the lock is had, of every wait: a histogram, and
 *	               its greatest value as wait_max_ns
 *	wait_sampled   in its place where sections are short: of every 16th wait of each thread,
 *	               because two readings of the clock take as long; its greatest value need
 *	               not be the greatest of all
 *	fairness_jain  (sum x)^2 / (n sum x^2) of the threads' shares x: 1 if all did the same,
 *	               1/n if one did all
 */
#ifndef BENCH_LOCK_CROWD_H
#define BENCH_LOCK_CROWD_H

#include "../peers/peers.h"
#include "../shim/bench.h"

#include <stdbool.h>
#include <stdint.h>

struct lock_crowd {
	const struct lock_peer *peer;
	unsigned threads;
	int64_t section_ns; /* of work under the lock, */
	int64_t think_ns;   /* and between two sections */
	bool each_wait;     /* is measured, however short sections are */
};

/* A benchmark: @arg is a struct lock_crowd. */
void time_lock_crowd(struct bench_run *run, const void *arg);

#endif
