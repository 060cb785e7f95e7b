/* SPDX-License-Identifier: MIT */
/*
 * Long but regular waits: a tick every millisecond, give or take 2 %, as from a frame clock
 * or an I/O device. Who sleeps is late by a whole wake-up, who spins burns the CPU; LATENCY
 * should do neither. ADAPTIVE is shown beside it, without a bar.
 *
 * The tick is made by a thread that is busy on its own CPU, so that the moment is exact, or
 * by one that sleeps on a timer (--tick timer), whose own lateness is no part of the figures:
 * it reads the clock after it has woken up.
 */
#include "handoff.h"
#include "row.h"

#include <math.h>

enum { ONLY_SPIN, ONLY_BLOCK, LATENCY, ADAPTIVE, VARIANTS };

static const struct sem_ops *const variants[VARIANTS] = {
	[ONLY_SPIN] = &sem_spin,
	[ONLY_BLOCK] = &sem_block,
	[LATENCY] = &sem_latency,
	[ADAPTIVE] = &sem_adaptive,
};

enum { ADDED, MEAN, P99, CPU, POST, SLEPT, ASTRAY, COLUMNS };

static const struct column columns[COLUMNS] = {
	[ADDED] = { "added us", "added_latency_us_median", 10, 2 },
	[MEAN] = { "mean", "added_latency_us_mean", 9, 2 },
	[P99] = { "p99", "added_latency_us_p99", 9, 2 },
	[CPU] = { "CPU us", "waiter_cpu_us", 10, 2 },
	[POST] = { "post us", "post_us_median", 9, 2 },
	[SLEPT] = { "slept", "slept_share", 8, 2 },
	[ASTRAY] = { "astray", "share_on_the_wakers_cpu", 8, 2 },
};

#define TICK_NS        1000000
#define JITTER_PERCENT 2

#define TICKS        400
#define WARM         100
#define WARM_A_ROUND 5

#define LATENCY_LIMIT 0.3
#define CPU_LIMIT     0.25

static void run_batch(struct handoff *h, const struct options *o, struct sem_room *sem,
		      int v, unsigned round, struct line *line)
{
	struct batch b = { .ops = variants[v], .sem = sem };
	struct figures f;

	b.pace = o->timer ? PACE_TIMER : PACE_TICK;
	b.wait_ns = TICK_NS;
	b.jitter_percent = JITTER_PERCENT;
	b.warm = round ? WARM_A_ROUND : options_scaled(o, WARM, 5);
	b.n = options_scaled(o, TICKS, 10);
	handoff_run(h, &b, &f);
	line->value[ADDED][round] = f.latency_us;
	line->value[MEAN][round] = f.mean_us;
	line->value[P99][round] = f.p99_us;
	line->value[CPU][round] = f.waiter_cpu_us;
	line->value[POST][round] = f.post_us;
	line->value[SLEPT][round] = f.slept;
	line->value[ASTRAY][round] = f.astray;
}

static void judge(struct report *r, struct line *lines[VARIANTS])
{
	double latency[ROUNDS_MOST], cpu[ROUNDS_MOST];

	for (unsigned i = 0; i < r->rounds; i++) {
		latency[i] = lines[LATENCY]->value[ADDED][i] /
			     lines[ONLY_BLOCK]->value[ADDED][i];
		cpu[i] = lines[LATENCY]->value[CPU][i] / lines[ONLY_SPIN]->value[CPU][i];
	}
	report_bar(r, report_median(r, latency), LATENCY_LIMIT,
		   "LATENCY: added latency / block only's");
	report_bar(r, report_median(r, cpu), CPU_LIMIT,
		   "LATENCY: waiter's CPU / spin only's");
}

static void run(struct report *r, const struct options *o)
{
	const char *point = o->timer ? "1 ms, timer" : "1 ms";
	static struct sem_room sems[VARIANTS];
	struct line *lines[VARIANTS];
	struct handoff *h;

	if (!row_has_two_cpus(r))
		return;
	report_columns(r, columns, COLUMNS);
	h = handoff_start();
	for (int v = 0; v < VARIANTS; v++) {
		lines[v] = report_line(r, point, variants[v]->name);
		variants[v]->init(&sems[v]);
	}
	for (unsigned round = 0; round < r->rounds; round++) {
		row_progress(o, "ticks", round, r->rounds);
		for (int v = 0; v < VARIANTS; v++)
			run_batch(h, o, &sems[v], v, round, lines[v]);
	}
	row_progress(o, "ticks", 1, 1);
	judge(r, lines);
	report_note(r, "B is %.1f us.", row_block_cost_ns() / 1e3);
}

const struct row row_ticks = {
	.name = "ticks",
	.what = "waits of 1 ms, 2 % jitter, with the LATENCY preset",
	.seconds = 9,
	.run = run,
};
