/* SPDX-License-Identifier: MIT */
/*
 * The measured part, and what the kernel and the library counted in it for the whole process:
 *
 *	switches_per_op     a thread gave up its CPU: it went to sleep
 *	preemptions_per_op  a thread lost its CPU
 *	futex_per_op        futex calls, to sleep or to wake: of libipcwait, and of those who call
 *	                    common/raw_futex.h; the others do not say
 *	spun_share          of libipcwait's waits, those that ended while spinning,
 *	slept_share         and those that slept; a token that is there at once is no wait
 *
 * Begin and end may be in other threads than the benchmark's own, one after the other, while
 * it waits for them.
 */
#ifndef BENCH_METER_H
#define BENCH_METER_H

#include "../shim/bench.h"

/* Who counts the futex calls. */
enum futexes {
	FUTEXES_UNKNOWN, /* nobody */
	FUTEXES_IPCWAIT, /* the library, and how its waits ended */
	FUTEXES_RAW,     /* common/raw_futex.h */
};

struct meter_counts {
	double switches, preemptions, futex, spun, slept;
};

struct meter {
	struct bench_run *run;
	enum futexes futexes;
	double ops; /* that are done, if not as many as were asked for; the time is scaled */
	int64_t begin_ns;
	int64_t wall_ns; /* from the end on */
	struct meter_counts before;
};

/* @meter is a struct meter: these are for those who call back. */
void meter_begin(void *meter);
void meter_end(void *meter);

#endif
