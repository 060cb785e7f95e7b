/* SPDX-License-Identifier: MIT */
/*
 * A pair that begins on one CPU: do the two find to two where there are two, and are they no
 * slower where there are not? Both are pinned to the same CPU until right before the first
 * hand-off, and may go where they like from then on, in a process that has done nothing before:
 * alone, beside a busy process, and at the lowest priority beside one and beside one on each
 * CPU. What they do is "sem_test 5k 2000": 5000 items, each a post, half a microsecond of work,
 * a wait and as much work again for the one, a wait, that work and a post for the other. Where
 * all CPUs are busy a quarter of that has to do, as it takes seconds. The two hand over by
 * semaphores, by condition variables and by channels. "moves" is ADAPTIVE that may move the
 * threads.
 */
#include "../common/clock.h"
#include "../../tools/common/place.h"
#include "cells.h"

#include <stdio.h>

enum { GLIBC, ADAPTIVE, MOVES, VARIANTS };

static const char *const names[VARIANTS] = {
	[GLIBC] = "glibc",
	[ADAPTIVE] = "ADAPTIVE",
	[MOVES] = "moves",
};

enum { SECONDS, CPU_SECONDS, OF_GLIBC, COLUMNS };

static const struct column columns[COLUMNS] = {
	[SECONDS] = { "seconds", "seconds", 11, 4 },
	[CPU_SECONDS] = { "CPU-s", "cpu_seconds", 11, 4 },
	[OF_GLIBC] = { "x glibc", "seconds_of_glibc", 10, 2 },
};

/* Busy processes: one, or one for each CPU. */
enum hogs { NONE, ONE, EACH };

static const struct form {
	const char *name;
	enum hogs hogs;
	int nice;
	double limit;
} forms[] = {
	{ "alone", NONE, 0, 0.3 },
	{ "busy", ONE, 0, 0.7 },
	{ "nice, busy", ONE, 19, 1.05 },
	{ "nice, all busy", EACH, 19, 1.05 },
};

#define FORMS (sizeof(forms) / sizeof(*forms))
#define CELLS (OBJECTS * FORMS * 2)

#define ITEMS     5000
#define LEAST     100
#define BUSY_PART 4
#define WORK_NS   540

/* Of a pair that is alone, in any round. */
#define WORST 0.5

static void make_cell(struct cell *c, unsigned i, const struct options *o,
		      char point[POINT_SIZE])
{
	const struct form *form = &forms[i / 2 % FORMS];

	c->object = i / (2 * FORMS);
	c->form = form;
	c->burst = (struct burst){ .pairs = 1, .one_cpu = true, .items = true };
	c->burst.processes = i % 2;
	c->burst.nice = form->nice;
	c->burst.hogs = form->hogs == EACH ? place_cpus(NULL, 0) : form->hogs;
	c->burst.phases[0].steps = clock_steps_per_us() * WORK_NS / 1000;
	c->burst.phases[0].turns =
		options_scaled(o, form->hogs == EACH ? ITEMS / BUSY_PART : ITEMS, LEAST);
	snprintf(point, POINT_SIZE, "%s, %s, %s", object_names[c->object], form->name,
		 i % 2 ? "proc." : "thr.");
}

static void measure(struct cell *c, unsigned variant, unsigned round)
{
	double(*value)[ROUNDS_MOST] = c->lines[variant]->value;
	struct burst_result result;

	c->burst.moves = variant == MOVES;
	cell_run(c, variant == GLIBC ? MAKER_GLIBC : MAKER_IPCWAIT, &result);
	value[SECONDS][round] = result.seconds;
	value[CPU_SECONDS][round] = result.cpu_seconds;
}

static void compare(struct cell *c, unsigned round)
{
	double glibc = c->lines[GLIBC]->value[SECONDS][round];

	for (unsigned v = 0; v < VARIANTS; v++)
		c->lines[v]->value[OF_GLIBC][round] =
			c->lines[v]->value[SECONDS][round] / glibc;
}

static void judge(struct report *r, const struct cell *c)
{
	const double *quotients = c->lines[MOVES]->value[OF_GLIBC];
	const struct form *form = c->form;

	report_bar(r, report_median(r, quotients), form->limit,
		   "%s: moves / glibc's seconds", c->lines[0]->point);
	if (form->hogs == NONE)
		report_bar(r, report_worst(r, quotients), WORST, "%s: the worst of %u",
			   c->lines[0]->point, r->rounds);
}

static void run(struct report *r, const struct options *o)
{
	static struct cell list[CELLS];
	const struct cells cells = {
		.row = "start",
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
	report_note(r, "%d items, a quarter of that where all CPUs are busy.", ITEMS);
}

const struct row row_start = {
	.name = "start",
	.what = "a pair that begins on one CPU, against glibc",
	.seconds = 60,
	.run = run,
};
