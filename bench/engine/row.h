/* SPDX-License-Identifier: MIT */
/*
 * A row of the table: one question, measured in a process of its own, so that what the
 * library learns in one does not reach the next.
 *
 * To add one: write a row_NAME.c, declare it here and name it in rows.c.
 */
#ifndef WAIT_BENCH_ROW_H
#define WAIT_BENCH_ROW_H

#include "report.h"
#include "../../tools/common/complain.h"

struct row {
	const char *name;
	const char *what;
	double seconds; /* that it takes with the default options, about */
	bool one_round; /* it measures a bound over a time: rounds mean nothing */
	void (*run)(struct report *r, const struct options *o);
};

extern const struct row row_sweep, row_pairs, row_one_cpu, row_hog, row_quota, row_ticks,
	row_drift, row_budget, row_overhead, row_cold, row_sleep, row_short,
	row_pairs_at_once, row_start, row_together, row_again, row_beside;

#define ROW_COUNT 17

/* Each row in both worlds, in the order of the rows. */
#define REPORTS (ROW_COUNT * WAKES_KINDS)

extern const struct row *const rows[ROW_COUNT];

/* Are two CPUs usable? If not, the row is marked as not available. */
bool row_has_two_cpus(struct report *r);

/* "2.0 us", "50 us", "5 ms" */
void row_name_wait(char name[24], double us);

/* B in ns as the library knows it by now. */
double row_block_cost_ns(void);

/* Tell whoever looks at the terminal that @done of @all steps are behind us. */
void row_progress(const struct options *o, const char *name, unsigned done, unsigned all);

#endif
