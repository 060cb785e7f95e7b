/* SPDX-License-Identifier: MIT */
#include "results.h"
#include "../../tools/common/median.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* From this many runs on, the first and the last are dropped. */
#define ENOUGH_TO_DROP 3

#define N_FIGURES (sizeof(struct figures) / sizeof(double))

static int add_entry(struct results *r, int row, bool processes)
{
	struct entry *e = &r->entries[r->n_entries];

	e->row = &rows[row];
	e->processes = processes;
	snprintf(e->label, sizeof(e->label), "%s, %s", e->row->name,
		 processes ? "processes" : "threads");
	e->runs = calloc(r->options->repeat, sizeof(*e->runs));
	if (!e->runs)
		return -1;
	r->n_entries++;
	return 0;
}

static int add_form(struct results *r, bool processes)
{
	for (int i = 0; i < ROW_COUNT; i++)
		if ((r->options->rows >> i & 1) && add_entry(r, i, processes))
			return -1;
	return 0;
}

struct results *results_create(const struct options *o)
{
	struct results *r = calloc(1, sizeof(*r));
	bool drop = o->repeat >= ENOUGH_TO_DROP;

	if (!r)
		return NULL;
	r->options = o;
	r->first_kept = drop;
	r->n_kept = drop ? o->repeat - 2 : o->repeat;
	r->block_cost_ns = NAN;
	r->block_samples = NAN;
	if ((o->threads && add_form(r, false)) || (o->processes && add_form(r, true))) {
		results_destroy(r);
		return NULL;
	}
	return r;
}

void results_destroy(struct results *r)
{
	for (unsigned i = 0; r && i < r->n_entries; i++)
		free(r->entries[i].runs);
	free(r);
}

const char *results_start(const struct results *r)
{
	if (r->options->mode == MODE_UNCONTENDED)
		return "at once";
	if (r->machine.cpus_usable < 2)
		return "at once, both workers on one CPU";
	return "the workers first meet on two CPUs, for up to 100 ms before the clock "
	       "starts; in all rows alike";
}

bool results_objects(const struct results *r, const struct entry *e)
{
	return r->options->objects && e->row->ops->window;
}

const struct entry *results_find(const struct results *r, int row, bool processes)
{
	for (unsigned i = 0; i < r->n_entries; i++)
		if (r->entries[i].row == &rows[row] && r->entries[i].processes == processes)
			return &r->entries[i];
	return NULL;
}

static void compare_with_glibc(const struct run *x, const struct run *glibc,
			       struct figures *f)
{
	f->seconds_vs_glibc = x->seconds / glibc->seconds;
	f->times_faster = glibc->seconds / x->seconds;
	f->cpu_vs_glibc = x->cpu_seconds / glibc->cpu_seconds;
	/* With T = items / seconds and C = CPU-seconds / seconds the items cancel out. */
	f->roi = f->times_faster / f->cpu_vs_glibc;
}

static void figures_of_run(const struct run *x, const struct run *glibc, double items,
			   struct figures *f)
{
	*f = (struct figures){
		.seconds = x->seconds,
		.items_per_second = items / x->seconds,
		.cpu_seconds = x->cpu_seconds,
		.cpu_us_per_item = x->cpu_seconds * 1e6 / items,
		.consumer_cpu_us_per_item = x->consumer_cpu_seconds * 1e6 / items,
		.ns_per_item = x->seconds * 1e9 / items,
		.bound_seconds = x->bound_seconds,
		.times_bound = x->seconds / x->bound_seconds,
		.times_ideal =
			x->seconds / (x->bound_seconds + items * x->round_trip_ns / 1e9),
		.switches = x->switches_voluntary + x->switches_involuntary,
		.futex_waits = x->futex_waits,
		.futex_wakes = x->futex_wakes,
		.interrupts = x->rescheduling_interrupts + x->function_call_interrupts,
		.same_cpu = x->same_cpu / (x->spun + x->slept),
		.roi = NAN,
		.seconds_vs_glibc = NAN,
		.cpu_vs_glibc = NAN,
		.times_faster = NAN,
	};
	if (glibc)
		compare_with_glibc(x, glibc, f);
}

void figures_of_entry(const struct results *r, const struct entry *e, struct figures *f)
{
	const struct entry *glibc = results_find(r, ROW_GLIBC, e->processes);
	struct figures *of_run = calloc(r->n_kept, sizeof(*of_run));
	double *values = calloc(r->n_kept, sizeof(*values));

	for (unsigned i = 0; of_run && i < r->n_kept; i++) {
		unsigned round = r->first_kept + i;

		figures_of_run(&e->runs[round], glibc ? &glibc->runs[round] : NULL,
			       (double)r->options->items, &of_run[i]);
	}
	for (unsigned k = 0; k < N_FIGURES; k++) {
		for (unsigned i = 0; of_run && values && i < r->n_kept; i++)
			values[i] = ((const double *)&of_run[i])[k];
		((double *)f)[k] = of_run && values ? median(values, r->n_kept) : NAN;
	}
	free(values);
	free(of_run);
}
