/* SPDX-License-Identifier: MIT */
#include "figures.h"
#include "median.h"

#include <math.h>
#include <stdlib.h>

#define N_FIGURES (sizeof(struct figures) / sizeof(double))

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
