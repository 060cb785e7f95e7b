/* SPDX-License-Identifier: MIT */
/*
 * A pair whose waits are short, then long, then short again: how fast does the library find
 * back? The two alternate, and each works while the other waits, for 0 or 5 us, then for 300 us
 * or 1 ms, then as at first. What the long waits have taught is wrong for the second short phase,
 * as what the short ones have taught is for the long. "moves" is ADAPTIVE that may move the
 * threads; glibc, which learns nothing, shows what the machine makes of the same.
 */
#include "../common/clock.h"
#include "cells.h"

#include <stdio.h>

enum { GLIBC, ADAPTIVE, MOVES, VARIANTS };

static const char *const names[VARIANTS] = {
	[GLIBC] = "glibc",
	[ADAPTIVE] = "ADAPTIVE",
	[MOVES] = "moves",
};

enum { SHORT, LONG, AGAIN, PHASES };

_Static_assert(PHASES <= BURST_PHASES_MOST, "a burst has room for the phases");

/* Of each phase us and CPU us, two columns; then AGAIN as a multiple of SHORT. */
enum { US, CPU_US, US_X = 2 * PHASES, CPU_US_X, COLUMNS };

static const struct column columns[COLUMNS] = {
	[2 * SHORT + US] = { "short us", "short_us_a_turn", 9, 1 },
	[2 * SHORT + CPU_US] = { "CPU us", "short_cpu_us_a_turn", 9, 1 },
	[2 * LONG + US] = { "long us", "long_us_a_turn", 9, 1 },
	[2 * LONG + CPU_US] = { "CPU us", "long_cpu_us_a_turn", 9, 1 },
	[2 * AGAIN + US] = { "again us", "again_us_a_turn", 9, 1 },
	[2 * AGAIN + CPU_US] = { "CPU us", "again_cpu_us_a_turn", 9, 1 },
	[US_X] = { "again x", "again_of_short", 9, 2 },
	[CPU_US_X] = { "CPU x", "again_of_short_cpu", 9, 2 },
};

static const unsigned shorts_us[] = { 0, 5 };
static const unsigned longs_us[] = { 300, 1000 };

#define SHORTS (sizeof(shorts_us) / sizeof(*shorts_us))
#define LONGS  (sizeof(longs_us) / sizeof(*longs_us))
#define CELLS  (OBJECTS * SHORTS * LONGS * 2)

/* Turns of a short phase, and work of either side in a long one. */
#define SHORT_TURNS 1000
#define LONG_US     15000
#define LEAST       15

/* Of the second short phase, as multiples of the first: the median, and in any round. */
#define LIMIT 1.15
#define WORST 1.5

static void make_cell(struct cell *c, unsigned i, const struct options *o,
		      char point[POINT_SIZE])
{
	unsigned short_us = shorts_us[i / 2 % SHORTS];
	unsigned long_us = longs_us[i / (2 * SHORTS) % LONGS];
	struct burst_phase *phases = c->burst.phases;

	c->object = i / (2 * SHORTS * LONGS);
	c->burst = (struct burst){ .pairs = 1, .processes = i % 2 };
	phases[SHORT].steps = clock_steps_per_us() * short_us;
	phases[SHORT].turns = options_scaled(o, SHORT_TURNS, LEAST);
	phases[LONG].steps = clock_steps_per_us() * long_us;
	phases[LONG].turns = options_scaled(o, LONG_US / long_us, LEAST);
	phases[AGAIN] = phases[SHORT];
	snprintf(point, POINT_SIZE, "%s, %u/%u us, %s", object_names[c->object], short_us,
		 long_us, i % 2 ? "proc." : "thr.");
}

static void measure(struct cell *c, unsigned variant, unsigned round)
{
	double(*value)[ROUNDS_MOST] = c->lines[variant]->value;
	struct burst_result result;

	c->burst.moves = variant == MOVES;
	cell_run(c, variant == GLIBC ? MAKER_GLIBC : MAKER_IPCWAIT, &result);
	for (unsigned i = 0; i < PHASES; i++) {
		double turns = (double)c->burst.phases[i].turns;

		value[2 * i + US][round] = result.phases[i].seconds * 1e6 / turns;
		value[2 * i + CPU_US][round] = result.phases[i].cpu_seconds * 1e6 / turns;
	}
	value[US_X][round] = value[2 * AGAIN + US][round] / value[2 * SHORT + US][round];
	value[CPU_US_X][round] =
		value[2 * AGAIN + CPU_US][round] / value[2 * SHORT + CPU_US][round];
}

static void judge(struct report *r, const struct line *moves)
{
	const double *quotients = moves->value[US_X];

	report_bar(r, report_median(r, quotients), LIMIT,
		   "%s: moves, second short phase / first", moves->point);
	report_bar(r, report_worst(r, quotients), WORST, "%s: the worst of %u",
		   moves->point, r->rounds);
}

static void run(struct report *r, const struct options *o)
{
	static struct cell list[CELLS];
	const struct cells cells = {
		.row = "again",
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
	for (unsigned i = 0; i < CELLS; i++)
		judge(r, list[i].lines[MOVES]);
	report_note(r, "A turn is a round trip; each of the two works once.");
}

const struct row row_again = {
	.name = "again",
	.what = "short, long and short waits in turn: does the library find back?",
	.seconds = 50,
	.run = run,
};
