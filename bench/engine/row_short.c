/* SPDX-License-Identifier: MIT */
/*
 * Short waits, of 2 us to half of B: do they answer as fast as a bare spin? Above half of B a
 * wait may well sleep, and is not judged.
 *
 * "spin only" stands there twice, as "block only" in the row sleep.
 */
#include "steady.h"

#include <math.h>
#include <stdio.h>

enum { ONLY_SPIN, ADAPTIVE, AGAIN, VARIANTS };

static const double waits_us[] = { 2, 5, 10, 15 };

#define WAITS (sizeof(waits_us) / sizeof(*waits_us))

/* A hand-off takes a microsecond beside the wait, not 40 as for those who sleep. */
#define BLOCK_US 100000
#define LEAST    20
#define BLOCKS   10
#define WARM     200

#define LATENCY_SHARE 1.25
#define LATENCY_MORE  0.03

static void judge(struct report *r, struct line *lines[STEADY_VARIANTS_MOST])
{
	double share[ROUNDS_MOST];

	for (unsigned i = 0; i < r->rounds; i++) {
		double spin = lines[ONLY_SPIN]->value[STEADY_LATENCY][i];

		share[i] = lines[ADAPTIVE]->value[STEADY_LATENCY][i] /
			   fmax(LATENCY_SHARE * spin, spin + LATENCY_MORE);
	}
	report_bar(r, report_median(r, share), 1,
		   "%s: added latency / (1.25 x or + 30 ns) of spin only",
		   lines[ADAPTIVE]->point);
}

static void run(struct report *r, const struct options *o)
{
	struct sem_ops again = sem_spin;
	const struct sem_ops *const variants[VARIANTS] = {
		[ONLY_SPIN] = &sem_spin,
		[ADAPTIVE] = &sem_adaptive,
		[AGAIN] = &again,
	};
	struct handoff *h;
	double block_us;

	if (!row_has_two_cpus(r))
		return;
	again.name = "the same";
	report_columns(r, steady_columns, STEADY_COLUMNS);
	h = handoff_start();
	block_us = handoff_learn_block_cost(h, o) / 1e3;
	for (unsigned i = 0; i < WAITS; i++) {
		struct line *lines[STEADY_VARIANTS_MOST];
		char point[24];
		struct steady s = { variants, VARIANTS, point,  waits_us[i],
				    BLOCK_US, LEAST,    BLOCKS, WARM };

		row_progress(o, "short", i, WAITS);
		row_name_wait(point, waits_us[i]);
		steady_run(r, o, h, &s, lines);
		if (waits_us[i] <= block_us / 2)
			judge(r, lines);
	}
	row_progress(o, "short", 1, 1);
	report_note(r,
		    "B was %.1f us before, and is %.1f us now; judged is up to half of it.",
		    block_us, row_block_cost_ns() / 1e3);
}

const struct row row_short = {
	.name = "short",
	.what = "waits of 2 us to half of B, against a bare spin",
	.seconds = 10,
	.run = run,
};
