/* SPDX-License-Identifier: MIT */
/* One thread waits, another wakes it (wakeup.h): the measurement behind most rows. */
#ifndef WAIT_BENCH_HANDOFF_H
#define WAIT_BENCH_HANDOFF_H

#include "options.h"
#include "../common/wakeup.h"

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

/* Run @b, which has neither begin nor end, with the caller as the waiter. */
void handoff_run(struct handoff *h, const struct batch *b, struct figures *f);

/* Waits that sleep, so that B is known. Returns it, in ns. */
double handoff_learn_block_cost(struct handoff *h, const struct options *o);

#endif
