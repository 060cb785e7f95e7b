/* SPDX-License-Identifier: MIT */
/*
 * One thread waits, another wakes it at an exact moment.
 *
 * The waiter says that it is ready, with the time, and waits. The waker works against the
 * clock until the wait has lasted as long as it should, writes the time and posts. What the
 * waiter's clock shows then, less the waker's time and one reading of the clock, is the added
 * latency.
 *
 * The waker is pinned to one CPU, and is the only one there: it never sleeps in a batch. It is
 * no hardware thread of the core on which the waiter begins, where there is another core. The
 * waiter is the calling thread. It begins on another CPU and is free to move, because a
 * pinned thread is a different case for the library. Where something else drives it to the
 * waker's CPU it would stay there, and be woken in a fifth of the time: such hand-offs are
 * counted, their latency is left out, and the waiter goes back.
 */
#ifndef BENCH_WAKEUP_H
#define BENCH_WAKEUP_H

#include "histogram.h"
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
	/* Instead of wait_ns and the jitter: asked by the waker for each wait. NULL: no. */
	int64_t (*length)(void *arg);
	void *arg;
	/* By the waiter, right before and after those that are measured. NULL: nothing. */
	void (*begin)(void *meter);
	void (*end)(void *meter);
	void *meter;
};

/* Of those that are measured. */
struct wakeups {
	struct histogram latency; /* ns, on other CPUs than the waker's */
	struct histogram post;    /* ns that the waker paid, system call and all */
	uint64_t measured;
	uint64_t astray; /* on the waker's CPU */
	uint64_t moved;  /* on another CPU than the one before */
	int cpu_waker;
	int cpu_waiter; /* on which most waits ended that did not go astray; -1: none */
	int64_t cpu_ns; /* the waiter's, with three readings of clock and CPU number each */
};

struct wakeup;

/* Once in a process where two CPUs are usable. */
struct wakeup *wakeup_start(void);

/* Run @b with the caller as the waiter. */
void wakeup_run(struct wakeup *w, const struct batch *b, struct wakeups *result);

#endif
