/* SPDX-License-Identifier: MIT */
/* Rows of cells: each cell is a burst, and each round measures every variant of every cell once. */
#ifndef WAIT_BENCH_CELLS_H
#define WAIT_BENCH_CELLS_H

#include "burst.h"
#include "row.h"

#define CELL_VARIANTS_MOST 4

struct cell {
	struct burst burst;
	enum object object; /* that hands the turns over */
	const void *form;   /* the row's own description of the cell */
	struct line *lines[CELL_VARIANTS_MOST];
};

struct cells {
	const char *row;
	const struct column *columns;
	unsigned n_columns;
	const char *const *variants; /* their names */
	unsigned n_variants;
	struct cell *list; /* zero; make fills it in */
	unsigned n;
	/* Describe the burst of cell @i, and write the name of the cell. */
	void (*make)(struct cell *c, unsigned i, const struct options *o,
		     char point[POINT_SIZE]);
	void (*measure)(struct cell *c, unsigned variant, unsigned round);
	void (*compare)(struct cell *c,
			unsigned round); /* once all variants ran; NULL: nothing */
};

/* Run the burst of @c with an object of @maker's. */
void cell_run(const struct cell *c, enum maker maker, struct burst_result *result);

/*
 * Make all cells and run all rounds; the variant that begins changes from round to round.
 * Return: false where two CPUs are not usable; the row is then marked as not available.
 */
bool cells_run(struct report *r, const struct options *o, const struct cells *cells);

#endif
