/* SPDX-License-Identifier: MIT */
/*
 * Waits that are worth a sleep, of 50 us to 10 ms, always the same on the same semaphore: does
 * a wait that sleeps cost what a bare futex costs?
 *
 * "block only" stands there twice: what the second one differs from the first is what this
 * machine cannot tell apart. The preset BLOCK shows what is left when nothing is decided.
 * Waits of 50 us are not judged, as B may be near.
 */
#include "steady.h"

#include <stdio.h>

enum { ONLY_BLOCK, ADAPTIVE, PRESET_BLOCK, AGAIN, VARIANTS };

static const double waits_us[] = { 50, 100, 200, 500, 1000, 5000, 10000 };

#define WAITS (sizeof(waits_us) / sizeof(*waits_us))

#define JUDGED_FROM_US 100

static const struct limits {
	double latency, cpu;
} limits[WAKES_KINDS] = {
	[WAKES_FOUND] = { 1.05, 1.10 },
	[WAKES_CHEAP] = { 1.10, 1.25 },
};

#define BLOCK_US 20000
#define LEAST    4
#define BLOCKS   10
#define WARM     40

static void judge(struct report *r, const struct line *line)
{
	const struct limits *most = &limits[r->wakes];

	report_bar(r, report_median(r, line->value[STEADY_LATENCY_X]), most->latency,
		   "%s, %s: added latency / block only's", line->point, line->variant);
	report_bar(r, report_median(r, line->value[STEADY_CPU_X]), most->cpu,
		   "%s, %s: waiter's CPU / block only's", line->point, line->variant);
}

static void run(struct report *r, const struct options *o)
{
	struct sem_ops again = sem_block;
	const struct sem_ops *const variants[VARIANTS] = {
		[ONLY_BLOCK] = &sem_block,
		[ADAPTIVE] = &sem_adaptive,
		[PRESET_BLOCK] = &sem_preset_block,
		[AGAIN] = &again,
	};
	struct handoff *h;

	if (!row_has_two_cpus(r))
		return;
	again.name = "the same";
	report_columns(r, steady_columns, STEADY_COLUMNS);
	h = handoff_start();
	for (unsigned i = 0; i < WAITS; i++) {
		struct line *lines[STEADY_VARIANTS_MOST];
		char point[24];
		struct steady s = { variants, VARIANTS, point,  waits_us[i],
				    BLOCK_US, LEAST,    BLOCKS, WARM };

		row_progress(o, "sleep", i, WAITS);
		row_name_wait(point, waits_us[i]);
		steady_run(r, o, h, &s, lines);
		if (waits_us[i] < JUDGED_FROM_US)
			continue;
		judge(r, lines[ADAPTIVE]);
		judge(r, lines[PRESET_BLOCK]);
	}
	row_progress(o, "sleep", 1, 1);
	report_note(r, "B is %.1f us.", row_block_cost_ns() / 1e3);
}

const struct row row_sleep = {
	.name = "sleep",
	.what = "steady waits of 50 us to 10 ms, against a bare futex",
	.seconds = 50,
	.run = run,
};
