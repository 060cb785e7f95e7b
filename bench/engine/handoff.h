/* SPDX-License-Identifier: MIT */
/*
 * One thread waits, another wakes it at an exact moment: the measurement behind most rows.
 *
 * The waiter says that it is ready, with the time, and waits. The waker works against the
 * clock until the wait has lasted as long as it should, writes the time and posts. What the
 * waiter's clock shows then, less the waker's time and one reading of the clock, is the added
 * latency.
 *
 * The waker is pinned to one CPU, and is the only one there: it never sleeps in a batch. The
 * waiter is the calling thread. It begins on another CPU and is free to move, because a
 * pinned thread is a different case for the library. Where something else drives it to the
 * waker's CPU it would stay there, and be woken in a fifth of the time: such hand-offs are
 * counted, their latency is left out, and the waiter goes back.
 */
#ifndef WAIT_BENCH_HANDOFF_H
#define WAIT_BENCH_HANDOFF_H

#include "../peers/sem_peer.h"

#include <stdbool.h>
#include <stdint.h>

enum pace {
	PACE_WAIT,  /* the wake comes wait_ns after the waiter was ready */
	PACE_TICK,  /* wait_ns after the wake before, by a busy waker */
	PACE_TIMER, /* the same by a waker that sleeps on a timer */
};

struct batch {
	const struct sem_ops *ops;
	void *sem;
	enum pace pace;
	int64_t wait_ns;
	unsigned jitter_percent; /* each wait is up to so much shorter or longer */
	uint64_t warm;           /* hand-offs before those that are measured */
	uint64_t n;              /* that are measured */
	/*
	 * Instead of the number: asked by the waker before each hand-off, with the time, which
	 * must take less than the wait; false ends the batch with this hand-off. NULL: no.
	 */
	bool (*more)(void *arg, int64_t now_ns);
	void *arg;
};

struct figures {
	double latency_us; /* median */
	double mean_us;
	double p99_us;
	double waiter_cpu_us; /* per hand-off, with three readings of clock and CPU number */
	double post_us;       /* median of what the waker paid, system call and all */
	double slept;         /* share of libipcwait's waits; NAN where none was counted */
	double astray;        /* share of hand-offs on the waker's CPU */
};

struct handoff;

/* Once in a process where two CPUs are usable. */
struct handoff *handoff_start(void);

/* Run @b with the caller as the waiter. */
void handoff_run(struct handoff *h, const struct batch *b, struct figures *f);

#endif
