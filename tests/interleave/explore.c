/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interleave/explore.h"

/*
 * How much of a tree half of the executions must have tried, as search_share() sees it, for the
 * other half to go on with it. Of the scenarios that need the other half and no more, of semaphore
 * and gates, the least was 0.063; of those that it does not suffice for, most have less than 0.01.
 */
#define SHARE_TO_GO_ON 0.05

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void begin(const struct run_params *run, struct explored *e)
{
	memset(e, 0, sizeof(*e));
	e->run = *run;
	e->seconds = -seconds();
}

/* One more. False if it did not pass. */
static bool execute(struct explored *e)
{
	search_start(e->executions++);
	e->worst = sched_run(&e->run);
	return e->worst.verdict == MODEL_PASS;
}

static void end(struct explored *e)
{
	e->seconds += seconds();
	e->schedule = *search_taken();
}

/* Until there are @most executions in all. True if nothing else ends it. */
static bool go_on_depth_first(struct explored *e, uint64_t most, unsigned *longest)
{
	while (!most || e->executions < most) {
		bool passed = execute(e);

		if (search_taken()->n > *longest)
			*longest = search_taken()->n;
		e->complete = passed && !search_next();
		if (!passed || e->complete)
			return false;
	}
	return true;
}

void explore_all(const struct run_params *run, uint64_t most, uint64_t seed,
		 struct explored *e)
{
	const struct search all = { .mode = SEARCH_ALL };
	struct search scattered = { .mode = SEARCH_SCATTERED, .seed = seed };
	bool goes_on;

	begin(run, e);
	search_begin(&all, NULL);
	goes_on = go_on_depth_first(e, most - most / 2, &scattered.steps);
	if (goes_on && search_share() >= SHARE_TO_GO_ON)
		goes_on = go_on_depth_first(e, most, &scattered.steps);
	if (goes_on) {
		search_begin(&scattered, NULL);
		while (e->executions < most && execute(e))
			continue;
	}
	end(e);
}

/* How long executions are decides where priorities are to change, so look at some first. */
static unsigned usual_steps(const struct run_params *run, const struct search *s)
{
	struct search plain = { .mode = SEARCH_RANDOM, .seed = s->seed };
	struct explored e;
	unsigned most = 1;

	begin(run, &e);
	search_begin(&plain, NULL);
	for (int i = 0; i < 8; i++) {
		(void)execute(&e);
		if (e.worst.steps > most)
			most = e.worst.steps;
	}
	return most;
}

void explore_random(const struct run_params *run, const struct search *s, uint64_t n,
		    struct explored *e)
{
	struct search tuned = *s;

	if (s->mode == SEARCH_PCT)
		tuned.steps = usual_steps(run, s);
	begin(run, e);
	search_begin(&tuned, NULL);
	while (e->executions < n && execute(e))
		continue;
	end(e);
}

void explore_replay(const struct run_params *run, const struct schedule *schedule,
		    struct explored *e)
{
	const struct search s = { .mode = SEARCH_REPLAY };

	begin(run, e);
	search_begin(&s, schedule);
	(void)execute(e);
	end(e);
}

/* True, and @e is what came of it, if the schedule fails as @e did. */
static bool still_fails(struct explored *e, const struct schedule *s)
{
	struct explored again;

	explore_replay(&e->run, s, &again);
	if (again.worst.verdict != e->worst.verdict ||
	    strcmp(again.worst.text, e->worst.text) != 0)
		return false;
	again.executions = e->executions;
	*e = again;
	while (e->schedule.n && e->schedule.taken[e->schedule.n - 1] == 0)
		e->schedule.n--;
	return true;
}

static void without(const struct schedule *s, unsigned at, unsigned n, bool usual,
		    struct schedule *less)
{
	*less = *s;
	if (usual) {
		memset(&less->taken[at], 0, n * sizeof(less->taken[0]));
		return;
	}
	memmove(&less->taken[at], &less->taken[at + n],
		(less->n - at - n) * sizeof(less->taken[0]));
	less->n -= n;
}

/* A pass with pieces of one size. True if any could be left out. */
static bool shrink_by(struct explored *e, unsigned n)
{
	static struct schedule less;
	bool any = false;

	for (unsigned at = 0; at + n <= e->schedule.n; at++)
		for (int usual = 0; usual < 2 && at + n <= e->schedule.n; usual++) {
			bool zeros = true;

			for (unsigned i = 0; i < n; i++)
				zeros = zeros && !e->schedule.taken[at + i];
			if (zeros && usual)
				continue;
			without(&e->schedule, at, n, usual, &less);
			if (less.n < e->schedule.n || !zeros)
				any = still_fails(e, &less) || any;
		}
	return any;
}

void explore_shrink(struct explored *e)
{
	for (unsigned pass = 0; pass < 6; pass++) {
		bool any = false;

		for (unsigned n = 16; n; n /= 2)
			any = shrink_by(e, n) || any;
		if (!any)
			return;
	}
}

void schedule_print(const struct schedule *s)
{
	for (unsigned i = 0; i < s->n;) {
		unsigned same = 1;

		while (i + same < s->n && s->taken[i + same] == s->taken[i])
			same++;
		printf("%s%u", i ? "," : "", s->taken[i]);
		if (same > 1)
			printf("*%u", same);
		i += same;
	}
	if (!s->n)
		printf("0");
}

bool schedule_parse(const char *text, struct schedule *s)
{
	s->n = 0;
	while (*text) {
		char *end;
		unsigned long value = strtoul(text, &end, 10), times = 1;

		if (end == text || value > UINT16_MAX)
			return false;
		if (*end == '*')
			times = strtoul(end + 1, &end, 10);
		if (times > DECISIONS_MAX - s->n || (*end && *end != ','))
			return false;
		while (times--)
			s->taken[s->n++] = (uint16_t)value;
		text = *end ? end + 1 : end;
	}
	return true;
}
