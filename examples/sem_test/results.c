/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* From this many runs on, the first and the last are dropped. */
#define ENOUGH_TO_DROP 3

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
	if (r->environment.cpus_usable < 2)
		return "at once, both workers on one CPU";
	return "the workers first meet on two CPUs, for up to 100 ms before the clock "
	       "starts; in all rows alike";
}

const struct entry *results_find(const struct results *r, int row, bool processes)
{
	for (unsigned i = 0; i < r->n_entries; i++)
		if (r->entries[i].row == &rows[row] && r->entries[i].processes == processes)
			return &r->entries[i];
	return NULL;
}
