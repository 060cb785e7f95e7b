/* SPDX-License-Identifier: MIT */
/*
 * Wait lengths from half a microsecond to ten milliseconds: is the library as good as the
 * better of spinning and sleeping, wherever B lies?
 *
 * Below B/2.5 it is held against the semaphore that only spins, above 2.5 B against the one
 * that only sleeps, between them against whichever is worse, figure by figure. B is what
 * ipcwait_stats_get() says after a warm-up that sleeps. The points are fixed ones and
 * multiples of B, so that they are denser around it.
 *
 * At each point every variant has a semaphore of its own, fresh, with 100 hand-offs before
 * the first round where it learns. SPIN, HALTPOLL and TICKS, the rules of others on the same
 * road, are shown beside ADAPTIVE without a bar; what they spin in vain is charged to nobody.
 */
#include "handoff.h"
#include "row.h"

#include <math.h>
#include <stdlib.h>

enum { SPIN, HALTPOLL, TICKS, GLIBC, ONLY_BLOCK, ONLY_SPIN, ADAPTIVE, VARIANTS };

static const struct sem_ops *const variants[VARIANTS] = {
	[SPIN] = &sem_preset_spin,   [HALTPOLL] = &sem_preset_haltpoll,
	[TICKS] = &sem_preset_ticks, [GLIBC] = &sem_glibc,
	[ONLY_BLOCK] = &sem_block,   [ONLY_SPIN] = &sem_spin,
	[ADAPTIVE] = &sem_adaptive,
};

/* As they are listed: the references first. */
static const int listed[VARIANTS] = { ONLY_SPIN, ONLY_BLOCK, ADAPTIVE, SPIN,
				      HALTPOLL,  TICKS,      GLIBC };

enum { LATENCY, MEAN, P99, CPU, POST, SLEPT, ASTRAY, COLUMNS };

static const struct column columns[COLUMNS] = {
	[LATENCY] = { "added us", "added_latency_us_median", 10, 2 },
	[MEAN] = { "mean", "added_latency_us_mean", 9, 2 },
	[P99] = { "p99", "added_latency_us_p99", 9, 2 },
	[CPU] = { "CPU us", "waiter_cpu_us", 10, 2 },
	[POST] = { "post us", "post_us_median", 9, 2 },
	[SLEPT] = { "slept", "slept_share", 8, 2 },
	[ASTRAY] = { "astray", "share_on_the_wakers_cpu", 8, 2 },
};

static const double fixed_us[] = { 0.5, 1, 2, 5, 100, 200, 500, 1000, 3000, 10000 };
static const double of_block[] = { 0.25, 0.38, 0.5, 0.75, 1, 1.5, 2, 2.6, 4 };

#define N_FIXED    (sizeof(fixed_us) / sizeof(fixed_us[0]))
#define N_OF_BLOCK (sizeof(of_block) / sizeof(of_block[0]))

/* Where a multiple of B is nearer to a fixed point than this it is left out. */
#define APART 1.1

/* A batch lasts about this long, its hand-offs taking some 40 us beside the wait. */
#define BATCH_US     70000
#define BESIDE_US    40
#define LEAST        24
#define MOST         8000
#define WARM         100
#define WARM_A_ROUND 3

/* The bars, in us. */
#define LATENCY_SHARE 1.15
#define LATENCY_MORE  0.3
#define CPU_SHARE     1.25
#define CPU_MORE      2
#define NEAR          2.5

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static unsigned choose_points(double block_us, double points[N_FIXED + N_OF_BLOCK])
{
	unsigned n = 0;

	for (; n < N_FIXED; n++)
		points[n] = fixed_us[n];
	for (unsigned i = 0; i < N_OF_BLOCK; i++) {
		double us = block_us * of_block[i];
		bool apart = us > fixed_us[0];

		for (unsigned k = 0; k < N_FIXED; k++)
			apart &= us > fixed_us[k] * APART || us * APART < fixed_us[k];
		if (apart)
			points[n++] = us;
	}
	qsort(points, n, sizeof(*points), compare);
	return n;
}

static void put(struct line *line, unsigned round, const struct figures *f)
{
	line->value[LATENCY][round] = f->latency_us;
	line->value[MEAN][round] = f->mean_us;
	line->value[P99][round] = f->p99_us;
	line->value[CPU][round] = f->waiter_cpu_us;
	line->value[POST][round] = f->post_us;
	line->value[SLEPT][round] = f->slept;
	line->value[ASTRAY][round] = f->astray;
}

struct sweep {
	struct report *report;
	const struct options *options;
	struct handoff *handoff;
};

/* All rounds at one point. */
static void measure_point(struct sweep *s, double us, struct line *lines[VARIANTS])
{
	static struct sem_room sems[VARIANTS];
	uint64_t n = options_scaled(s->options, (uint64_t)(BATCH_US / (us + BESIDE_US)), 0);

	n = n < LEAST ? LEAST : n > MOST ? MOST : n;
	for (int v = 0; v < VARIANTS; v++)
		variants[v]->init(&sems[v]);
	for (unsigned round = 0; round < s->report->rounds; round++)
		for (int v = 0; v < VARIANTS; v++) {
			bool learns = v == SPIN || v == HALTPOLL || v == ADAPTIVE;
			struct batch b = { .ops = variants[v], .sem = &sems[v], .n = n };
			struct figures f;

			b.wait_ns = (int64_t)(us * 1000);
			b.warm = !round && learns ? options_scaled(s->options, WARM, 3)
						  : WARM_A_ROUND;
			handoff_run(s->handoff, &b, &f);
			put(lines[v], round, &f);
		}
}

enum reference { AGAINST_SPIN, AGAINST_BLOCK, AGAINST_WORSE };

static const char *const reference_names[] = {
	[AGAINST_SPIN] = "spin only",
	[AGAINST_BLOCK] = "block only",
	[AGAINST_WORSE] = "the worse",
};

static double reference(enum reference against, struct line *const lines[VARIANTS],
			unsigned column, unsigned round)
{
	double spin = lines[ONLY_SPIN]->value[column][round];
	double block = lines[ONLY_BLOCK]->value[column][round];

	return against == AGAINST_SPIN    ? spin
	       : against == AGAINST_BLOCK ? block
					  : fmax(spin, block);
}

/* What the references allow, round by round, and the share of it that ADAPTIVE takes. */
static void judge(struct report *r, const char *point, double us, double block_us,
		  struct line *lines[VARIANTS])
{
	enum reference against = us < block_us / NEAR   ? AGAINST_SPIN
				 : us > block_us * NEAR ? AGAINST_BLOCK
							: AGAINST_WORSE;
	double latency[ROUNDS_MOST], cpu[ROUNDS_MOST];

	for (unsigned i = 0; i < r->rounds; i++) {
		double late = reference(against, lines, LATENCY, i);
		double busy = reference(against, lines, CPU, i);

		latency[i] = lines[ADAPTIVE]->value[LATENCY][i] /
			     (LATENCY_SHARE * late + LATENCY_MORE);
		cpu[i] = lines[ADAPTIVE]->value[CPU][i] /
			 fmax(CPU_SHARE * busy, busy + CPU_MORE);
	}
	report_bar(r, report_median(r, latency), 1,
		   "%s: added latency / (1.15 x + 0.3 us) of %s", point,
		   reference_names[against]);
	report_bar(r, report_median(r, cpu), 1,
		   "%s: waiter's CPU / (1.25 x or + 2 us) of %s", point,
		   reference_names[against]);
}

static void run_point(struct sweep *s, double us, double block_us)
{
	struct line *lines[VARIANTS];
	char point[24];

	row_name_wait(point, us);
	for (int i = 0; i < VARIANTS; i++)
		lines[listed[i]] = report_line(s->report, point, variants[listed[i]]->name);
	measure_point(s, us, lines);
	judge(s->report, point, us, block_us, lines);
}

static void run(struct report *r, const struct options *o)
{
	double points[N_FIXED + N_OF_BLOCK], block_us;
	struct sweep s = { .report = r, .options = o };
	unsigned n;

	if (!row_has_two_cpus(r))
		return;
	report_columns(r, columns, COLUMNS);
	s.handoff = handoff_start();
	block_us = handoff_learn_block_cost(s.handoff, o) / 1e3;
	n = choose_points(block_us, points);
	for (unsigned i = 0; i < n; i++) {
		row_progress(o, "sweep", i, n);
		run_point(&s, points[i], block_us);
	}
	row_progress(o, "sweep", n, n);
	report_note(r, "B was %.1f us when the points were chosen, and is %.1f us now.",
		    block_us, row_block_cost_ns() / 1e3);
	report_note(
		r,
		"astray: share of the hand-offs that the waiter took on the waker's CPU.");
}

const struct row row_sweep = {
	.name = "sweep",
	.what = "hand-off after 0.5 us to 10 ms, against spinning and sleeping",
	.seconds = 67,
	.run = run,
};
