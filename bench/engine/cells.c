/* SPDX-License-Identifier: MIT */
#include "cells.h"

void cell_run(const struct cell *c, enum maker maker, struct burst_result *result)
{
	burst_run(&c->burst, turn_by(c->object, maker, c->burst.processes), result);
}

static void make_cells(struct report *r, const struct options *o, const struct cells *cells)
{
	for (unsigned i = 0; i < cells->n; i++) {
		struct cell *c = &cells->list[i];
		char point[POINT_SIZE];

		cells->make(c, i, o, point);
		for (unsigned v = 0; v < cells->n_variants; v++)
			c->lines[v] = report_line(r, point, cells->variants[v]);
	}
}

static void run_cell(const struct cells *cells, struct cell *c, unsigned round)
{
	for (unsigned i = 0; i < cells->n_variants; i++)
		cells->measure(c, (i + round) % cells->n_variants, round);
	if (cells->compare)
		cells->compare(c, round);
}

bool cells_run(struct report *r, const struct options *o, const struct cells *cells)
{
	unsigned all = r->rounds * cells->n;

	if (!row_has_two_cpus(r))
		return false;
	report_columns(r, cells->columns, cells->n_columns);
	make_cells(r, o, cells);
	for (unsigned done = 0; done < all; done++) {
		row_progress(o, cells->row, done, all);
		run_cell(cells, &cells->list[done % cells->n], done / cells->n);
	}
	row_progress(o, cells->row, 1, 1);
	return true;
}
