/* SPDX-License-Identifier: MIT */
/*
 * A pair that alternates, each working while the other waits for longer than a spin may last. On
 * one CPU a hand-over is a switch; on two it wakes a CPU that has halted. "together" is glibc
 * pinned to one CPU, "moves" ADAPTIVE that may move the threads; all but "together" begin where
 * the scheduler puts them.
 */
#include "../common/clock.h"
#include "../../tools/common/place.h"
#include "burst.h"
#include "row.h"

#include <stdio.h>

enum { GLIBC, TOGETHER, ADAPTIVE, MOVES, VARIANTS };

static const char *const names[VARIANTS] = {
	[GLIBC] = "glibc",
	[TOGETHER] = "glibc together",
	[ADAPTIVE] = "ADAPTIVE",
	[MOVES] = "moves",
};

enum { US, CPU_US, OF_BETTER, COLUMNS };

static const struct column columns[COLUMNS] = {
	[US] = { "us a turn", "us_a_turn", 11, 1 },
	[CPU_US] = { "CPU us", "cpu_us_a_turn", 11, 1 },
	[OF_BETTER] = { "x better", "of_better", 10, 2 },
};

static const unsigned works_us[] = { 50, 100, 300 };

#define WORKS    (sizeof(works_us) / sizeof(*works_us))
#define CELLS    (2 * WORKS)
#define TOTAL_US 60000 /* of work, in each round and variant */
#define LEAST    20
#define LIMIT    1.05

struct cell {
	struct burst burst;
	struct line *lines[VARIANTS];
};

static void make_cell(struct report *r, const struct options *o, struct cell *c, unsigned i)
{
	unsigned us = works_us[i / 2];
	char point[24];

	c->burst.pairs = 1;
	c->burst.processes = i % 2;
	c->burst.steps = clock_steps_per_us() * us;
	c->burst.turns = options_scaled(o, TOTAL_US / us, LEAST);
	snprintf(point, sizeof(point), "%u us, %s", us, i % 2 ? "proc." : "thr.");
	for (int v = 0; v < VARIANTS; v++)
		c->lines[v] = report_line(r, point, names[v]);
}

static const struct sem_ops *ops_of(const struct cell *c, unsigned variant)
{
	if (variant == GLIBC || variant == TOGETHER)
		return c->burst.processes ? &sem_glibc_shared : &sem_glibc;
	return c->burst.processes ? &sem_adaptive_shared : &sem_adaptive;
}

static void run_cell(struct cell *c, unsigned round)
{
	double better;

	for (unsigned i = 0; i < VARIANTS; i++) {
		unsigned v = (i + round) % VARIANTS;
		double turns = (double)c->burst.turns;
		struct burst_result result;

		c->burst.one_cpu = c->burst.stays = v == TOGETHER;
		c->burst.moves = v == MOVES;
		burst_run(&c->burst, ops_of(c, v), &result);
		c->lines[v]->value[US][round] = result.seconds * 1e6 / turns;
		c->lines[v]->value[CPU_US][round] = result.cpu_seconds * 1e6 / turns;
	}
	better = c->lines[GLIBC]->value[US][round];
	if (c->lines[TOGETHER]->value[US][round] < better)
		better = c->lines[TOGETHER]->value[US][round];
	for (unsigned v = 0; v < VARIANTS; v++)
		c->lines[v]->value[OF_BETTER][round] =
			c->lines[v]->value[US][round] / better;
}

static void run(struct report *r, const struct options *o)
{
	static struct cell cells[CELLS];

	if (!row_has_two_cpus(r))
		return;
	report_columns(r, columns, COLUMNS);
	for (unsigned i = 0; i < CELLS; i++)
		make_cell(r, o, &cells[i], i);
	for (unsigned round = 0; round < r->rounds; round++)
		for (unsigned i = 0; i < CELLS; i++) {
			row_progress(o, "together", round * CELLS + i, r->rounds * CELLS);
			run_cell(&cells[i], round);
		}
	row_progress(o, "together", 1, 1);
	for (unsigned i = 0; i < CELLS; i++)
		report_bar(r, report_median(r, cells[i].lines[MOVES]->value[OF_BETTER]),
			   LIMIT, "%s: moves / the better of glibc's",
			   cells[i].lines[0]->point);
}

const struct row row_together = {
	.name = "together",
	.what = "a pair that alternates with long waits, against glibc",
	.seconds = 20,
	.run = run,
};
