/* SPDX-License-Identifier: MIT */
/* A whole search: many executions of one scenario in one kind of memory. */
#ifndef TESTS_INTERLEAVE_EXPLORE_H
#define TESTS_INTERLEAVE_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include "interleave/sched.h"
#include "interleave/search.h"

/* Where no number of preemptions is too many. */
#define UNBOUNDED 255

/* More steps than any execution has that ends. */
#define STEPS_MOST 4000

struct explored {
	uint64_t executions;
	double seconds;
	bool complete; /* all executions were tried */
	struct run_params run;
	struct outcome worst;     /* the first that did not pass, or the last one */
	struct schedule schedule; /* of it */
};

/*
 * All schedules within run->bound preemptions, at most @most of them if not 0. Depth first varies
 * the last decisions first: if half of @most has not come far, the rest goes to such schedules as
 * differ from the usual one in a few decisions anywhere, by chance from @seed.
 */
void explore_all(const struct run_params *run, uint64_t most, uint64_t seed,
		 struct explored *e);

/* @n executions by chance. */
void explore_random(const struct run_params *run, const struct search *s, uint64_t n,
		    struct explored *e);

/* One execution. */
void explore_replay(const struct run_params *run, const struct schedule *schedule,
		    struct explored *e);

/* Make a schedule that fails shorter and more usual, so that it fails in the same way. */
void explore_shrink(struct explored *e);

/* Its text: numbers with commas, 0*7 for seven zeros. */
void schedule_print(const struct schedule *s);
bool schedule_parse(const char *text, struct schedule *s);

#endif
