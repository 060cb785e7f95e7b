/* SPDX-License-Identifier: MIT */
/*
 * Where spinning does harm: more threads than CPUs, one CPU, a CPU hog, a quota. The library
 * should be no slower than semaphores that sleep at once.
 *
 * Pairs of threads hand a microsecond of work back and forth. Every run is a process of its
 * own, with the same number of trips for all variants in all rounds, chosen so that the one
 * that only blocks takes about half a second, or 1.5 s under the quota.
 */
#include "../common/clock.h"
#include "crowd.h"
#include "quota.h"
#include "row.h"

#include <stdio.h>

enum { ONLY_BLOCK, ADAPTIVE, GLIBC, VARIANTS };

static const struct sem_ops *const variants[VARIANTS] = {
	[ONLY_BLOCK] = &sem_block,
	[ADAPTIVE] = &sem_adaptive,
	[GLIBC] = &sem_glibc,
};

enum { SECONDS, CPU_SECONDS, US_PER_TRIP, COLUMNS };

static const struct column columns[COLUMNS] = {
	[SECONDS] = { "seconds", "seconds", 10, 3 },
	[CPU_SECONDS] = { "CPU-s", "cpu_seconds", 10, 3 },
	[US_PER_TRIP] = { "us per trip", "us_per_trip", 13, 2 },
};

#define LIMIT 1.05

/* A quota is dealt out every 0.1 s: a run has to last for many such periods. */
#define RUN_S         0.5
#define QUOTA_RUN_S   1.5
#define TRIAL_TRIPS   300
#define TRIAL_GROWTH  4
#define WORK_US       1
#define QUOTA_PERCENT 50

/*
 * Trips that take about @seconds, at the scale that was asked for. The trial grows until it
 * takes a good part of that: one that is short says little about many threads, and nothing
 * about a quota.
 */
static uint64_t choose_trips(const struct crowd *c, const struct options *o, double seconds)
{
	uint64_t trips = TRIAL_TRIPS;
	struct crowd_cost cost;

	seconds *= o->scale;
	for (;; trips *= TRIAL_GROWTH) {
		crowd_run(c, &sem_block, trips, &cost);
		if (cost.seconds * TRIAL_GROWTH >= seconds)
			break;
	}
	trips = (uint64_t)((double)trips * seconds / cost.seconds);
	return trips > TRIAL_TRIPS ? trips : TRIAL_TRIPS;
}

static void judge(struct report *r, const char *point, struct line *lines[VARIANTS])
{
	double seconds[ROUNDS_MOST];

	for (unsigned i = 0; i < r->rounds; i++)
		seconds[i] = lines[ADAPTIVE]->value[SECONDS][i] /
			     lines[ONLY_BLOCK]->value[SECONDS][i];
	report_bar(r, report_median(r, seconds), LIMIT, "%s: seconds / block only's",
		   point);
}

static void compare(struct report *r, const struct options *o, const char *name,
		    const char *point, struct crowd *c)
{
	struct line *lines[VARIANTS];
	uint64_t trips;

	c->steps = clock_steps_per_us() * WORK_US;
	report_columns(r, columns, COLUMNS);
	trips = choose_trips(c, o, c->group ? QUOTA_RUN_S : RUN_S);
	for (int v = 0; v < VARIANTS; v++)
		lines[v] = report_line(r, point, variants[v]->name);
	for (unsigned round = 0; round < r->rounds; round++) {
		row_progress(o, name, round, r->rounds);
		for (int v = 0; v < VARIANTS; v++) {
			struct crowd_cost cost;

			crowd_run(c, variants[v], trips, &cost);
			lines[v]->value[SECONDS][round] = cost.seconds;
			lines[v]->value[CPU_SECONDS][round] = cost.cpu_seconds;
			lines[v]->value[US_PER_TRIP][round] =
				cost.seconds * 1e6 / (double)trips;
		}
	}
	row_progress(o, name, 1, 1);
	judge(r, point, lines);
	report_note(r, "%u pair%s, %llu trips each, %d us of work on either side.",
		    c->pairs, c->pairs == 1 ? "" : "s", (unsigned long long)trips, WORK_US);
}

static void run_pairs(struct report *r, const struct options *o)
{
	struct crowd c = { .pairs = 8, .cpus = 2 };

	if (row_has_two_cpus(r))
		compare(r, o, "pairs", "8 pairs", &c);
}

static void run_one_cpu(struct report *r, const struct options *o)
{
	struct crowd c = { .pairs = 1, .cpus = 1 };

	compare(r, o, "one-cpu", "one CPU", &c);
}

static void run_hog(struct report *r, const struct options *o)
{
	struct crowd c = { .pairs = 1, .cpus = 2, .hog = true };

	if (row_has_two_cpus(r))
		compare(r, o, "hog", "CPU hog", &c);
}

/* The main program removes the group, however this process ends. */
static void run_quota(struct report *r, const struct options *o)
{
	struct crowd c = { .pairs = 1, .cpus = 2, .group = r->group };
	char why[128];

	if (!row_has_two_cpus(r))
		return;
	if (quota_make(QUOTA_PERCENT, r->group, sizeof(r->group), why, sizeof(why))) {
		report_unavailable(r, "%s", why);
		return;
	}
	compare(r, o, "quota", "quota", &c);
	report_note(r, "The quota is %d %% of one CPU.", QUOTA_PERCENT);
}

const struct row row_pairs = {
	.name = "pairs",
	.what = "8 pairs of threads on 2 CPUs, against sleeping",
	.seconds = 12,
	.run = run_pairs,
};

const struct row row_one_cpu = {
	.name = "one-cpu",
	.what = "a pair pinned to one CPU, against sleeping",
	.seconds = 10,
	.run = run_one_cpu,
};

const struct row row_hog = {
	.name = "hog",
	.what = "a pair beside a busy process, against sleeping",
	.seconds = 12,
	.run = run_hog,
};

const struct row row_quota = {
	.name = "quota",
	.what = "a pair under a quota of half a CPU, against sleeping",
	.seconds = 25,
	.run = run_quota,
};
