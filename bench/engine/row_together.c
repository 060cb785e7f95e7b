/* SPDX-License-Identifier: MIT */
/*
 * A pair that alternates, each working while the other waits for longer than a spin may last. On
 * one CPU a hand-over is a switch; on two it wakes a CPU that has halted. "together" is glibc
 * pinned to one CPU, "moves" ADAPTIVE that may move the threads; all but "together" begin where
 * the scheduler puts them. The two hand over by semaphores, by condition variables and by
 * channels.
 */
#include "../common/clock.h"
#include "cells.h"

#include <stdio.h>

enum { GLIBC, TOGETHER, ADAPTIVE, MOVES, VARIANTS };

static const char *const names[VARIANTS] = {
	[GLIBC] = "glibc",
	[TOGETHER] = "glibc together",
	[ADAPTIVE] = "ADAPTIVE",
	[MOVES] = "moves",
};

enum { US, CPU_US, OF_BETTER, CPU_OF_BETTER, COLUMNS };

static const struct column columns[COLUMNS] = {
	[US] = { "us a turn", "us_a_turn", 11, 1 },
	[CPU_US] = { "CPU us", "cpu_us_a_turn", 11, 1 },
	[OF_BETTER] = { "x better", "of_better", 10, 2 },
	[CPU_OF_BETTER] = { "CPU x", "cpu_of_better", 10, 2 },
};

static const unsigned works_us[] = { 50, 100, 300 };

#define WORKS    (sizeof(works_us) / sizeof(*works_us))
#define CELLS    (OBJECTS * WORKS * 2)
#define TOTAL_US 60000 /* of work, in each round and variant */
#define LEAST    20
#define LIMIT    1.05

static void make_cell(struct cell *c, unsigned i, const struct options *o,
		      char point[POINT_SIZE])
{
	unsigned us = works_us[i / 2 % WORKS];

	c->object = i / (2 * WORKS);
	c->burst = (struct burst){ .pairs = 1, .processes = i % 2 };
	c->burst.phases[0].steps = clock_steps_per_us() * us;
	c->burst.phases[0].turns = options_scaled(o, TOTAL_US / us, LEAST);
	snprintf(point, POINT_SIZE, "%s, %u us, %s", object_names[c->object], us,
		 i % 2 ? "proc." : "thr.");
}

static void measure(struct cell *c, unsigned variant, unsigned round)
{
	double(*value)[ROUNDS_MOST] = c->lines[variant]->value;
	double turns = (double)c->burst.phases[0].turns;
	struct burst_result result;

	c->burst.one_cpu = c->burst.stays = variant == TOGETHER;
	c->burst.moves = variant == MOVES;
	cell_run(c, variant < ADAPTIVE ? MAKER_GLIBC : MAKER_IPCWAIT, &result);
	value[US][round] = result.seconds * 1e6 / turns;
	value[CPU_US][round] = result.cpu_seconds * 1e6 / turns;
}

/* With the one of glibc's that took less time in the round. */
static void compare(struct cell *c, unsigned round)
{
	bool apart =
		c->lines[GLIBC]->value[US][round] < c->lines[TOGETHER]->value[US][round];
	double(*better)[ROUNDS_MOST] = c->lines[apart ? GLIBC : TOGETHER]->value;

	for (unsigned v = 0; v < VARIANTS; v++) {
		double(*value)[ROUNDS_MOST] = c->lines[v]->value;

		value[OF_BETTER][round] = value[US][round] / better[US][round];
		value[CPU_OF_BETTER][round] = value[CPU_US][round] / better[CPU_US][round];
	}
}

static void judge(struct report *r, const struct cell *c)
{
	const struct line *moves = c->lines[MOVES];

	report_bar(r, report_median(r, moves->value[OF_BETTER]), LIMIT,
		   "%s: moves / the better of glibc's", moves->point);
	report_bar(r, report_median(r, moves->value[CPU_OF_BETTER]), LIMIT,
		   "%s: the same of CPU time", moves->point);
}

static void run(struct report *r, const struct options *o)
{
	static struct cell list[CELLS];
	const struct cells cells = {
		.row = "together",
		.columns = columns,
		.n_columns = COLUMNS,
		.variants = names,
		.n_variants = VARIANTS,
		.list = list,
		.n = CELLS,
		.make = make_cell,
		.measure = measure,
		.compare = compare,
	};

	if (!cells_run(r, o, &cells))
		return;
	for (unsigned i = 0; i < CELLS; i++)
		judge(r, &list[i]);
}

const struct row row_together = {
	.name = "together",
	.what = "a pair that alternates with long waits, against glibc",
	.seconds = 60,
	.run = run,
};
