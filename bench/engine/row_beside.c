/* SPDX-License-Identifier: MIT */
/*
 * A pair beside a program that computes: one process, which runs where the scheduler puts it, or
 * one on each CPU. The pair alternates with 5 us of work a turn, and hands its turns over by a
 * semaphore, a condition variable or a channel, of glibc's and of the library's. A waiter that
 * spins takes the CPU from the program, which gets its share back from the pair: does the library
 * get as many hand-offs done as glibc, for no more CPU time? "the same" is glibc once more: what
 * its quotients differ from 1 by cannot be told apart.
 */
#include "../common/clock.h"
#include "../../tools/common/place.h"
#include "cells.h"

#include <stdio.h>

enum { GLIBC, ADAPTIVE, SAME, VARIANTS };

static const char *const names[VARIANTS] = {
	[GLIBC] = "glibc",
	[ADAPTIVE] = "ADAPTIVE",
	[SAME] = "the same",
};

enum { RATE, CPU_US, OF_GLIBC, CPU_OF_GLIBC, COLUMNS };

static const struct column columns[COLUMNS] = {
	[RATE] = { "hand-offs/s", "hand_offs_per_second", 13, 0 },
	[CPU_US] = { "CPU us", "cpu_us_per_hand_off", 10, 2 },
	[OF_GLIBC] = { "x glibc", "rate_of_glibc", 10, 2 },
	[CPU_OF_GLIBC] = { "CPU x", "cpu_of_glibc", 10, 2 },
};

/* Programs that compute: one, or one on each CPU. */
enum { ONE, EACH, FORMS };

static const char *const form_names[FORMS] = { [ONE] = "one", [EACH] = "each" };

#define CELLS (OBJECTS * FORMS * 2)

#define WORK_US   5
#define WINDOW_NS 300000000
#define LEAST_NS  3000000

#define LEAST_RATE 0.97
#define MOST_CPU   1.05

static void make_cell(struct cell *c, unsigned i, const struct options *o,
		      char point[POINT_SIZE])
{
	unsigned form = i / 2 % FORMS;

	c->object = i / (2 * FORMS);
	c->burst = (struct burst){ .pairs = 1, .processes = i % 2 };
	c->burst.hogs = form == EACH ? place_cpus(NULL, 0) : 1;
	c->burst.phases[0].steps = clock_steps_per_us() * WORK_US;
	c->burst.window_ns = (int64_t)options_scaled(o, WINDOW_NS, LEAST_NS);
	snprintf(point, POINT_SIZE, "%s, %s, %s", object_names[c->object], form_names[form],
		 i % 2 ? "proc." : "thr.");
}

static void measure(struct cell *c, unsigned variant, unsigned round)
{
	double(*value)[ROUNDS_MOST] = c->lines[variant]->value;
	struct burst_result result;

	cell_run(c, variant == ADAPTIVE ? MAKER_IPCWAIT : MAKER_GLIBC, &result);
	value[RATE][round] = result.hand_offs / result.seconds;
	value[CPU_US][round] = result.cpu_seconds * 1e6 / result.hand_offs;
}

static void compare(struct cell *c, unsigned round)
{
	double(*glibc)[ROUNDS_MOST] = c->lines[GLIBC]->value;

	for (unsigned v = 0; v < VARIANTS; v++) {
		double(*value)[ROUNDS_MOST] = c->lines[v]->value;

		value[OF_GLIBC][round] = value[RATE][round] / glibc[RATE][round];
		value[CPU_OF_GLIBC][round] = value[CPU_US][round] / glibc[CPU_US][round];
	}
}

static void judge(struct report *r, const struct line *line)
{
	report_bar_at_least(r, report_median(r, line->value[OF_GLIBC]), LEAST_RATE,
			    "%s: hand-offs / glibc's", line->point);
	report_bar(r, report_median(r, line->value[CPU_OF_GLIBC]), MOST_CPU,
		   "%s: CPU time of a hand-off / glibc's", line->point);
}

static void run(struct report *r, const struct options *o)
{
	static struct cell list[CELLS];
	const struct cells cells = {
		.row = "beside",
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
		judge(r, list[i].lines[ADAPTIVE]);
}

const struct row row_beside = {
	.name = "beside",
	.what = "a pair beside one program that computes, and beside one on each CPU",
	.seconds = 70,
	.run = run,
};
