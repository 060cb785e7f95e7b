/* SPDX-License-Identifier: MIT */
/* Who runs, and what happens to those who do not. */
#ifndef TESTS_INTERLEAVE_SCHED_H
#define TESTS_INTERLEAVE_SCHED_H

#include "interleave/model.h"
#include "interleave/view.h"

/* What came of one execution. */
struct outcome {
	enum model_verdict verdict;
	char text[160];
	unsigned steps;
};

/* How to run it. */
struct run_params {
	const struct model_scenario *scenario;
	enum model_memory memory;
	unsigned bound; /* preemptions, at most */
	unsigned steps; /* at most; more is a livelock */
};

/* Once, before all executions. */
void coroutine_prepare(void);

/* One execution; the decisions are search.h's. */
struct outcome sched_run(const struct run_params *params);

/* The thread that runs, or HOST. */
unsigned sched_current(void);

/* Its view. */
struct view *sched_view(void);
struct view *sched_view_of(unsigned thread);

/* The kind of memory. */
enum model_memory sched_memory(void);

/* How many loads of old values there may be. */
unsigned sched_stale_most(void);

/* True while always() looks: then nothing is noted. */
bool sched_observing(void);

/* The moment before an access to memory: others may run, processes die, handlers run. */
void sched_point(void);

/* A reading of the clock: time may have jumped. */
bool sched_clock_jumps(void);

/* Something has changed: whoever paused may look again. */
void sched_changed(void);

/* A step for the trace: what the current thread does with @p. */
void sched_trace(const volatile void *p, const char *what, uint64_t value);

#endif
