/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks in which a thread waits for a given time and is woken (common/wakeup.h). One
 * operation is one wait. Beside the time, which is the wait with all that goes with it:
 *
 *	latency        from right before the post to when the waiter runs again
 *	post           what the post took in the waker
 *	waiter_cpu_ns  CPU time of the waiter per wait
 *	astray_share   waits that ended on the waker's CPU, driven there by something else:
 *	               their latency is left out
 *	moved_share    waits that ended on another CPU than the one before
 *	cpu_waker      where the waker was,
 *	cpu_waiter     and where most waits ended that did not go astray,
 *	same_core      1 if these are hardware threads of one core, else 0
 *
 * Where more than a fifth of the waits went astray there is no measurement: what is left of
 * them is not what the others would have been.
 *
 * The CPU time of the process is the waker's too, which is always busy: it means nothing.
 *
 * A semaphore lives as long as the program, so that the short runs before the one that counts
 * are its past. Not measured: semaphores that nobody has waited on yet, more than one waiter,
 * other processes.
 */
#ifndef BENCH_WAITS_H
#define BENCH_WAITS_H

#include "../peers/peers.h"
#include "../shim/bench.h"

#include <stdint.h>

struct waits {
	const struct sem_peer *peer;
	int64_t wait_ns; /* the mean, where @length says more */
	/* NULL, or asked for each wait with a state that is @seed at the start of a run. */
	int64_t (*length)(void *state);
	uint64_t seed;
	struct waits_past *past; /* from run to run */
};

/* To be filled in further: wait_ns at least. */
struct waits *waits_new(const struct sem_peer *peer);

/* A benchmark: @arg is a struct waits. */
void time_waits(struct bench_run *run, const void *arg);

#endif
