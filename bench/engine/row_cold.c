/* SPDX-License-Identifier: MIT */
/*
 * Objects that live for one wait, or for few: futures, replies, latches of a request. Others
 * have lived before them and were waited on from the same place in the program: does a new one
 * profit from that?
 *
 * A line is a process of its own in each round: it begins with up to 64 objects that are not
 * measured. Then come blocks in which every variant has a new semaphore for each object.
 * Judged is what a wait costs: added latency and the waiter's CPU time, means, against the
 * better of the two that know no doubt, spin only and block only, in the same round.
 *
 * The last line is the first object of a process: it is waited on for 10 ms, again and again.
 * Nobody has told the library that this is long; what it spins in vain until it has learned
 * that may be B, as it believes B to be when it begins.
 */
#include "child.h"
#include "handoff.h"
#include "row.h"

#include <errno.h>
#include <ipcwait/sem.h>
#include <ipcwait/stats.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ONLY_SPIN, ONLY_BLOCK, ADAPTIVE, VARIANTS };

static const char *const names[VARIANTS] = { "spin only", "block only", "ADAPTIVE" };

enum { LATENCY, CPU, COST, OF_BETTER, SLEPT, IN_VAIN, BLOCK_COST, COLUMNS };

static const struct column columns[COLUMNS] = {
	[LATENCY] = { "added us", "added_latency_us_mean", 10, 2 },
	[CPU] = { "CPU us", "waiter_cpu_us", 10, 2 },
	[COST] = { "both us", "latency_and_cpu_us", 10, 2 },
	[OF_BETTER] = { "x better", "latency_and_cpu_of_the_better", 10, 2 },
	[SLEPT] = { "slept", "slept_share", 8, 2 },
	[IN_VAIN] = { "in vain us", "spun_in_vain_us_per_object", 12, 2 },
	[BLOCK_COST] = { "B us", "block_cost_us", 8, 1 },
};

static const double waits_us[] = { 1, 5, 20, 100, 200, 1000, 5000 };
static const unsigned uses[] = { 1, 2, 8 };

#define WAITS (sizeof(waits_us) / sizeof(*waits_us))
#define USES  (sizeof(uses) / sizeof(*uses))

#define SHARE   1.15
#define MORE_US 1

/* Objects that live before those that are measured: fewer where that takes too long. */
#define BEFORE       64
#define BEFORE_LEAST 16
#define BEFORE_US    500000

/* A block lasts about this long, its hand-offs taking some 40 us beside the wait. */
#define BLOCK_US     12000
#define BESIDE_US    40
#define OBJECTS_MOST 128
#define BLOCKS       8

/* Of each block, to get over the start of it. */
#define WARM_OBJECTS 2

#define FIRST_WAIT_US 10000
#define FIRST_WAITS   24

/* Objects in the order of their use, seen as one semaphore. */
struct objects {
	const struct sem_ops *ops;
	unsigned uses;
	_Alignas(128) unsigned waited;
	_Alignas(128) unsigned posted;
	_Alignas(128) struct sem_room sems[OBJECTS_MOST + WARM_OBJECTS];
};

static void wait_on_next(void *objects)
{
	struct objects *o = objects;

	o->ops->wait(&o->sems[o->waited++ / o->uses]);
}

static void post_next(void *objects)
{
	struct objects *o = objects;

	o->ops->post(&o->sems[o->posted++ / o->uses]);
}

/* All zero, as users make them, but for what "block only" has too: it is for one process. */
static void init_zero(void *sem)
{
	if (ipcwait_sem_init(sem, 0, IPCWAIT_PRIVATE))
		give_up("cannot make a semaphore");
}

static const struct sem_ops *ops_of(int variant)
{
	static struct sem_ops zero;

	zero = sem_adaptive;
	zero.init = init_zero;
	return variant == ONLY_SPIN    ? &sem_spin
	       : variant == ONLY_BLOCK ? &sem_block
				       : &zero;
}

struct cell {
	double wait_us;
	unsigned uses;
};

/* Sums over the blocks of one variant. */
struct sums {
	double hand_offs, latency_us, cpu_us, slept;
	double objects, in_vain_us;
};

static double wasted_us(void)
{
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		give_up("ipcwait_stats_get() failed");
	return (double)st.kind[IPCWAIT_KIND_SEM].spun_wasted_ns / 1e3;
}

static void run_objects(struct handoff *h, const struct cell *c, int variant, unsigned n,
			struct sums *sums)
{
	static const struct sem_ops in_turn = { "objects", NULL, wait_on_next, post_next,
						NULL };
	static struct objects objects;
	struct batch b = { .ops = &in_turn, .sem = &objects };
	double before_us = wasted_us();
	struct figures f;

	objects.ops = ops_of(variant);
	objects.uses = c->uses;
	objects.waited = objects.posted = 0;
	for (unsigned i = 0; i < n + WARM_OBJECTS; i++) {
		memset(&objects.sems[i], 0, sizeof(objects.sems[i]));
		objects.ops->init(&objects.sems[i]);
	}
	b.wait_ns = (int64_t)(c->wait_us * 1000);
	b.warm = WARM_OBJECTS * c->uses;
	b.n = n * c->uses;
	handoff_run(h, &b, &f);
	if (isnan(f.mean_us))
		return; /* all went astray */
	sums->hand_offs += (double)b.n;
	sums->latency_us += f.mean_us * (double)b.n;
	sums->cpu_us += f.waiter_cpu_us * (double)b.n;
	sums->slept += f.slept * (double)b.n;
	sums->objects += n + WARM_OBJECTS;
	sums->in_vain_us += wasted_us() - before_us;
}

static unsigned between(double n, unsigned least, unsigned most)
{
	return n < least ? least : n > most ? most : (unsigned)n;
}

static void live_before(struct handoff *h, const struct cell *c)
{
	double fit = BEFORE_US / (c->uses * (c->wait_us + BESIDE_US));
	struct sums ignored = { 0 };

	run_objects(h, c, ADAPTIVE, between(fit, BEFORE_LEAST, BEFORE), &ignored);
}

static void put(struct line *line, unsigned round, const struct sums *s)
{
	line->value[LATENCY][round] = s->latency_us / s->hand_offs;
	line->value[CPU][round] = s->cpu_us / s->hand_offs;
	line->value[COST][round] = (s->latency_us + s->cpu_us) / s->hand_offs;
	line->value[SLEPT][round] = s->slept / s->hand_offs;
	line->value[IN_VAIN][round] = s->in_vain_us / s->objects;
}

/* Of what a round has measured; NAN if one of the two is not among it. */
static double cost_of_better(struct line *const lines[VARIANTS], unsigned round)
{
	double spin = lines[ONLY_SPIN]->value[COST][round];
	double block = lines[ONLY_BLOCK]->value[COST][round];

	return spin < block ? spin : isnan(spin) ? NAN : block;
}

static void run_cell(const struct options *o, const struct cell *c, unsigned round,
		     struct line *lines[VARIANTS])
{
	unsigned blocks = (unsigned)options_scaled(o, BLOCKS, 1);
	double fit = BLOCK_US / (c->uses * (c->wait_us + BESIDE_US)), better;
	struct sums sums[VARIANTS] = { { 0 } };
	struct handoff *h = handoff_start();

	live_before(h, c);
	for (unsigned block = 0; block < blocks; block++)
		for (unsigned i = 0; i < VARIANTS; i++) {
			int v = (int)((i + block) % VARIANTS);

			run_objects(h, c, v, between(fit, 1, OBJECTS_MOST), &sums[v]);
		}
	for (unsigned v = 0; v < VARIANTS; v++)
		put(lines[v], round, &sums[v]);
	lines[ADAPTIVE]->value[BLOCK_COST][round] = row_block_cost_ns() / 1e3;
	better = cost_of_better(lines, round);
	for (unsigned v = 0; v < VARIANTS; v++)
		lines[v]->value[OF_BETTER][round] = lines[v]->value[COST][round] / better;
}

static void judge(struct report *r, struct line *lines[VARIANTS])
{
	double share[ROUNDS_MOST];

	for (unsigned i = 0; i < r->rounds; i++) {
		double better = cost_of_better(lines, i);

		share[i] = lines[ADAPTIVE]->value[COST][i] /
			   fmax(SHARE * better, better + MORE_US);
	}
	report_bar(r, report_median(r, share), 1,
		   "%s: both / (1.15 x or + 1 us) of the better", lines[ADAPTIVE]->point);
}

/* The lines are in memory that all processes of the row share. */
static void compare(struct report *r, const struct options *o, const struct cell *c)
{
	struct line *lines[VARIANTS];
	char wait[24], point[48];

	row_name_wait(wait, c->wait_us);
	snprintf(point, sizeof(point), "%s, %u use%s", wait, c->uses,
		 c->uses == 1 ? "" : "s");
	for (int v = 0; v < VARIANTS; v++)
		lines[v] = report_line(r, point, names[v]);
	for (unsigned round = 0; round < r->rounds; round++) {
		pid_t pid = child_start();

		if (!pid) {
			run_cell(o, c, round, lines);
			_exit(0);
		}
		child_end(pid, point);
	}
	judge(r, lines);
}

static void meet_first(unsigned round, struct line *line)
{
	struct handoff *h = handoff_start();
	struct sem_room sem;
	struct batch b = { .ops = ops_of(ADAPTIVE), .sem = &sem };
	struct figures f;

	line->value[BLOCK_COST][round] = row_block_cost_ns() / 1e3;
	b.wait_ns = INT64_C(1000) * FIRST_WAIT_US;
	b.n = FIRST_WAITS;
	b.ops->init(&sem);
	handoff_run(h, &b, &f);
	line->value[LATENCY][round] = f.mean_us;
	line->value[CPU][round] = f.waiter_cpu_us;
	line->value[COST][round] = f.mean_us + f.waiter_cpu_us;
	line->value[SLEPT][round] = f.slept;
	line->value[IN_VAIN][round] = wasted_us();
}

static void compare_first(struct report *r)
{
	struct line *line = report_line(r, "10 ms, the first", names[ADAPTIVE]);
	double of_block[ROUNDS_MOST];

	for (unsigned round = 0; round < r->rounds; round++) {
		pid_t pid = child_start();

		if (!pid) {
			meet_first(round, line);
			_exit(0);
		}
		child_end(pid, "the first object");
		of_block[round] =
			line->value[IN_VAIN][round] / line->value[BLOCK_COST][round];
	}
	report_bar(r, report_median(r, of_block), 1,
		   "10 ms, the first: spun in vain in all / B");
}

static void run(struct report *r, const struct options *o)
{
	if (!row_has_two_cpus(r))
		return;
	report_columns(r, columns, COLUMNS);
	for (unsigned w = 0; w < WAITS; w++)
		for (unsigned u = 0; u < USES; u++) {
			struct cell c = { waits_us[w], uses[u] };

			row_progress(o, "cold", w * USES + u, WAITS * USES);
			compare(r, o, &c);
		}
	compare_first(r);
	row_progress(o, "cold", 1, 1);
}

const struct row row_cold = {
	.name = "cold",
	.what = "new objects, waited on once, twice, 8 times",
	.seconds = 70,
	.run = run,
};
