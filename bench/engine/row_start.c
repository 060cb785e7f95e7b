/* SPDX-License-Identifier: MIT */
/*
 * A pair that begins on one CPU: do the two find to two where there are two, and are they no
 * slower where there are not? Both are pinned to the same CPU until right before the first
 * hand-off, and may go where they like from then on, in a process that has done nothing before:
 * alone, beside a busy process, and at the lowest priority beside one and beside one on each
 * CPU. What they do is "sem_test 5k 2000": 5000 items, each a post, half a microsecond of work,
 * a wait and as much work again for the one, a wait, that work and a post for the other. Where
 * all CPUs are busy a quarter of that has to do, as it takes seconds. "moves" is ADAPTIVE that may
 * move the threads.
 */
#include "../common/clock.h"
#include "../../tools/common/place.h"
#include "burst.h"
#include "row.h"

#include <stdio.h>

enum { GLIBC, ADAPTIVE, MOVES, VARIANTS };

static const struct sem_ops *const variants[2][VARIANTS] = {
	{ [GLIBC] = &sem_glibc, [ADAPTIVE] = &sem_adaptive, [MOVES] = &sem_adaptive },
	{ [GLIBC] = &sem_glibc_shared,
	  [ADAPTIVE] = &sem_adaptive_shared,
	  [MOVES] = &sem_adaptive_shared },
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
#define CELLS (2 * FORMS)

#define ITEMS     5000
#define LEAST     100
#define BUSY_PART 4
#define WORK_NS   540

/* Of a pair that is alone, in any round. */
#define WORST 0.5

struct cell {
	const struct form *form;
	struct burst burst;
	struct line *lines[VARIANTS];
};

static void make_cell(struct report *r, const struct options *o, struct cell *c, unsigned i)
{
	unsigned cpus = place_cpus(NULL, 0);
	char point[24];

	c->form = &forms[i / 2];
	c->burst.pairs = 1;
	c->burst.one_cpu = true;
	c->burst.items = true;
	c->burst.processes = i % 2;
	c->burst.nice = c->form->nice;
	c->burst.hogs = c->form->hogs == EACH ? cpus : c->form->hogs;
	c->burst.steps = clock_steps_per_us() * WORK_NS / 1000;
	c->burst.turns = options_scaled(o, ITEMS, LEAST);
	if (c->form->hogs == EACH)
		c->burst.turns = options_scaled(o, ITEMS / BUSY_PART, LEAST);
	snprintf(point, sizeof(point), "%s, %s", c->form->name, i % 2 ? "proc." : "thr.");
	for (int v = 0; v < VARIANTS; v++)
		c->lines[v] =
			report_line(r, point, v == MOVES ? "moves" : variants[0][v]->name);
}

static void run_cell(struct cell *c, unsigned round)
{
	for (unsigned i = 0; i < VARIANTS; i++) {
		unsigned v = (i + round) % VARIANTS;
		struct burst_result result;

		c->burst.moves = v == MOVES;
		burst_run(&c->burst, variants[c->burst.processes][v], &result);
		c->lines[v]->value[SECONDS][round] = result.seconds;
		c->lines[v]->value[CPU_SECONDS][round] = result.cpu_seconds;
	}
	for (unsigned v = 0; v < VARIANTS; v++)
		c->lines[v]->value[OF_GLIBC][round] =
			c->lines[v]->value[SECONDS][round] /
			c->lines[GLIBC]->value[SECONDS][round];
}

static double worst(const double *quotients, unsigned rounds)
{
	double most = 0;

	for (unsigned i = 0; i < rounds; i++)
		most = quotients[i] > most ? quotients[i] : most;
	return most;
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
			row_progress(o, "start", round * CELLS + i, r->rounds * CELLS);
			run_cell(&cells[i], round);
		}
	row_progress(o, "start", 1, 1);
	for (unsigned i = 0; i < CELLS; i++) {
		const double *quotients = cells[i].lines[MOVES]->value[OF_GLIBC];

		report_bar(r, report_median(r, quotients), cells[i].form->limit,
			   "%s: moves / glibc's seconds", cells[i].lines[0]->point);
		if (cells[i].form->hogs == NONE)
			report_bar(r, worst(quotients, r->rounds), WORST,
				   "%s: the worst of %u", cells[i].lines[0]->point,
				   r->rounds);
	}
	report_note(r, "%d items, a quarter of that where all CPUs are busy.", ITEMS);
}

const struct row row_start = {
	.name = "start",
	.what = "a pair that begins on one CPU, against glibc",
	.seconds = 20,
	.run = run,
};
