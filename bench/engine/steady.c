/* SPDX-License-Identifier: MIT */
#include "steady.h"

#include <math.h>
#include <stdlib.h>

#define BLOCKS_MOST 64

/* What a hand-off takes beside the wait, about. */
#define BESIDE_US 40

/* At the start of a block, to get over the start of it. */
#define WARM_A_BLOCK 2

const struct column steady_columns[STEADY_COLUMNS] = {
	[STEADY_LATENCY] = { "added us", "added_latency_us_median", 10, 3 },
	[STEADY_P99] = { "p99", "added_latency_us_p99", 9, 2 },
	[STEADY_CPU] = { "CPU us", "waiter_cpu_us", 10, 2 },
	[STEADY_POST] = { "post us", "post_us_median", 9, 2 },
	[STEADY_SLEPT] = { "slept", "slept_share", 8, 2 },
	[STEADY_ASTRAY] = { "astray", "share_on_the_wakers_cpu", 8, 2 },
	[STEADY_LATENCY_X] = { "x added", "latency_of_the_references", 9, 3 },
	[STEADY_CPU_X] = { "x CPU", "cpu_of_the_references", 8, 3 },
};

/* Of all blocks of one round. */
struct blocks {
	double value[STEADY_VARIANTS_MOST][STEADY_COLUMNS][BLOCKS_MOST];
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Blocks in which nothing was measured are left out. */
static double median(const double *of_blocks, unsigned blocks)
{
	double v[BLOCKS_MOST];
	unsigned n = 0;

	for (unsigned i = 0; i < blocks; i++)
		if (!isnan(of_blocks[i]))
			v[n++] = of_blocks[i];
	if (!n)
		return NAN;
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void put(struct blocks *all, unsigned v, unsigned block, const struct figures *f)
{
	all->value[v][STEADY_LATENCY][block] = f->latency_us;
	all->value[v][STEADY_P99][block] = f->p99_us;
	all->value[v][STEADY_CPU][block] = f->waiter_cpu_us;
	all->value[v][STEADY_POST][block] = f->post_us;
	all->value[v][STEADY_SLEPT][block] = f->slept;
	all->value[v][STEADY_ASTRAY][block] = f->astray;
}

static void divide(struct blocks *all, unsigned n_variants, unsigned block)
{
	for (unsigned v = 0; v < n_variants; v++) {
		all->value[v][STEADY_LATENCY_X][block] =
			all->value[v][STEADY_LATENCY][block] /
			all->value[0][STEADY_LATENCY][block];
		all->value[v][STEADY_CPU_X][block] =
			all->value[v][STEADY_CPU][block] / all->value[0][STEADY_CPU][block];
	}
}

static void run_block(const struct steady *s, const struct options *o, struct handoff *h,
		      struct sem_room *sems, unsigned block, struct blocks *all)
{
	struct batch b = { .wait_ns = (int64_t)(s->wait_us * 1000), .warm = WARM_A_BLOCK };

	b.n = options_scaled(o, (uint64_t)(s->block_us / (s->wait_us + BESIDE_US)), 1);
	b.n = b.n < s->least ? s->least : b.n;
	for (unsigned i = 0; i < s->n_variants; i++) {
		unsigned v = (i + block) % s->n_variants;
		struct figures f;

		b.ops = s->variants[v];
		b.sem = &sems[v];
		handoff_run(h, &b, &f);
		put(all, v, block, &f);
	}
	divide(all, s->n_variants, block);
}

static void warm_up(const struct steady *s, const struct options *o, struct handoff *h,
		    struct sem_room *sems)
{
	struct batch b = { .wait_ns = (int64_t)(s->wait_us * 1000) };
	struct figures f;

	b.n = options_scaled(o, s->warm, 1);
	for (unsigned v = 0; v < s->n_variants; v++) {
		b.ops = s->variants[v];
		b.sem = &sems[v];
		b.ops->init(b.sem);
		handoff_run(h, &b, &f);
	}
}

void steady_run(struct report *r, const struct options *o, struct handoff *h,
		const struct steady *s, struct line *lines[STEADY_VARIANTS_MOST])
{
	static struct sem_room sems[STEADY_VARIANTS_MOST];
	static struct blocks all;
	unsigned blocks = (unsigned)options_scaled(o, s->blocks, 1);

	blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST;
	for (unsigned v = 0; v < s->n_variants; v++)
		lines[v] = report_line(r, s->point, s->variants[v]->name);
	warm_up(s, o, h, sems);
	for (unsigned round = 0; round < r->rounds; round++) {
		for (unsigned block = 0; block < blocks; block++)
			run_block(s, o, h, sems, block, &all);
		for (unsigned v = 0; v < s->n_variants; v++)
			for (unsigned c = 0; c < STEADY_COLUMNS; c++)
				lines[v]->value[c][round] = median(all.value[v][c], blocks);
	}
}
