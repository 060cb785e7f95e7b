/* SPDX-License-Identifier: MIT */
/*
 * 1, 2, 4 and 8 pairs at once, of threads and of processes, that hand work of 0, 5 or 20 us back
 * and forth: how many hand-offs do all of them get done in the first 0.3 s? Nothing is warmed
 * up: each run is a fresh process, and what the library learns there it has to learn first.
 *
 * The opponents are glibc, which sleeps at once, and a semaphore that spins for 50 us, whatever
 * happens, and then sleeps. Judged is ours against the better of the two in each cell; the
 * better is the one with the higher median, and the quotients are formed within the rounds.
 */
#include "../common/clock.h"
#include "cells.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

enum { GLIBC, FIXED, ADAPTIVE, VARIANTS };

static const struct sem_ops *const variants[2][VARIANTS] = {
	{ [GLIBC] = &sem_glibc, [FIXED] = &sem_50us, [ADAPTIVE] = &sem_adaptive },
	{ [GLIBC] = &sem_glibc_shared,
	  [FIXED] = &sem_50us_shared,
	  [ADAPTIVE] = &sem_adaptive_shared },
};

static const char *const names[VARIANTS] = {
	[GLIBC] = "glibc",
	[FIXED] = "spin 50 us",
	[ADAPTIVE] = "ADAPTIVE",
};

enum { RATE, CPU_US, CPUS, OF_BETTER, COLUMNS };

static const struct column columns[COLUMNS] = {
	[RATE] = { "hand-offs/s", "hand_offs_per_second", 13, 0 },
	[CPU_US] = { "CPU us", "cpu_us_per_hand_off", 10, 2 },
	[CPUS] = { "CPUs busy", "cpus_busy", 11, 2 },
	[OF_BETTER] = { "x better", "rate_of_the_better", 10, 2 },
};

static const unsigned pairs[] = { 1, 2, 4, 8 };
static const unsigned works_us[] = { 0, 5, 20 };

#define PAIRS (sizeof(pairs) / sizeof(*pairs))
#define WORKS (sizeof(works_us) / sizeof(*works_us))
#define CELLS (PAIRS * WORKS * 2)

#define WINDOW_NS 300000000
#define LEAST_NS  3000000

#define LEAST      0.9
#define LEAST_MEAN 1.05

static void make_cell(struct cell *c, unsigned i, const struct options *o,
		      char point[POINT_SIZE])
{
	unsigned work_us = works_us[i % WORKS];

	c->burst = (struct burst){ .pairs = pairs[i / WORKS % PAIRS] };
	c->burst.processes = i >= PAIRS * WORKS;
	c->burst.phases[0].steps = clock_steps_per_us() * work_us;
	c->burst.window_ns = (int64_t)options_scaled(o, WINDOW_NS, LEAST_NS);
	snprintf(point, POINT_SIZE, "%u %s, %u us", c->burst.pairs,
		 c->burst.processes ? "proc." : "thr.", work_us);
}

static void measure(struct cell *c, unsigned variant, unsigned round)
{
	double(*value)[ROUNDS_MOST] = c->lines[variant]->value;
	struct burst_result result;

	burst_run(&c->burst, &(struct turn){ variants[c->burst.processes][variant], NULL },
		  &result);
	value[RATE][round] = result.hand_offs / result.seconds;
	value[CPU_US][round] = result.cpu_seconds * 1e6 / result.hand_offs;
	value[CPUS][round] = result.cpu_seconds / result.seconds;
}

static const struct line *better_of(const struct report *r, const struct cell *c)
{
	bool glibc = report_median(r, c->lines[GLIBC]->value[RATE]) >=
		     report_median(r, c->lines[FIXED]->value[RATE]);

	return c->lines[glibc ? GLIBC : FIXED];
}

static void judge_cell(struct report *r, struct cell *c)
{
	const double *better = better_of(r, c)->value[RATE];

	for (unsigned round = 0; round < r->rounds; round++)
		for (int v = 0; v < VARIANTS; v++) {
			double(*value)[ROUNDS_MOST] = c->lines[v]->value;

			value[OF_BETTER][round] = value[RATE][round] / better[round];
		}
	report_bar_at_least(r, report_median(r, c->lines[ADAPTIVE]->value[OF_BETTER]),
			    LEAST, "%s: hand-offs / the better's", c->lines[0]->point);
}

static void judge(struct report *r, struct cell cells[CELLS])
{
	double mean[ROUNDS_MOST];

	for (unsigned i = 0; i < CELLS; i++)
		judge_cell(r, &cells[i]);
	for (unsigned round = 0; round < r->rounds; round++) {
		double sum = 0;

		for (unsigned i = 0; i < CELLS; i++)
			sum += log(cells[i].lines[ADAPTIVE]->value[OF_BETTER][round]);
		mean[round] = exp(sum / CELLS);
	}
	report_bar_at_least(r, report_median(r, mean), LEAST_MEAN,
			    "geometric mean over the cells");
}

static void run(struct report *r, const struct options *o)
{
	static struct cell list[CELLS];
	const struct cells cells = {
		.row = "pairs-at-once",
		.columns = columns,
		.n_columns = COLUMNS,
		.variants = names,
		.n_variants = VARIANTS,
		.list = list,
		.n = CELLS,
		.make = make_cell,
		.measure = measure,
	};

	if (!cells_run(r, o, &cells))
		return;
	judge(r, list);
}

const struct row row_pairs_at_once = {
	.name = "pairs-at-once",
	.what = "1 to 8 pairs, the first 0.3 s of their life",
	.seconds = 115,
	.run = run,
};
