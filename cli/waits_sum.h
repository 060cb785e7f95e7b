/* SPDX-License-Identifier: MIT */
/* A record of waits, by object or by call site. */
#ifndef CLI_WAITS_SUM_H
#define CLI_WAITS_SUM_H

#include "waits.h"

/* Below 2, 4, 8 ... ns; the last, of 292 years, has what is longer too. */
#define WAITS_BINS 63

enum waits_by { WAITS_BY_OBJECT, WAITS_BY_SITE };

/* Those of one process on one object, or at one call site. */
struct waits_row {
	const struct waits_process *process;
	uint64_t address; /* of the object's window or of the site; 0: not known */
	uint64_t site;    /* of the last */
	unsigned kind;    /* enum ipcwait_kind, of the last */
	uint64_t waits, slept, gave_up;
	uint64_t length_ns, slept_ns;  /* sums */
	uint64_t useful_ns, wasted_ns; /* CPU time spun: to the end of a wait, or in vain */
	uint64_t window_ns;            /* of the last that had one */
	uint64_t p50_ns, p90_ns, p99_ns, most_ns; /* of lengths */
	uint64_t reasons[IPCWAIT_REASON_SPACE];
	uint64_t bins[WAITS_BINS]; /* by length */
};

/* A row has 900 bytes: a record of waits on a million objects would take a gigabyte. */
#define WAITS_ROWS_MOST 65536

struct waits_sums {
	struct waits_row *row; /* the longest time in all first */
	size_t n;              /* at most WAITS_ROWS_MOST */
	size_t all;            /* how many there would be */
};

void waits_sum(struct waits_sums *s, const struct waits *w, enum waits_by by);
void waits_sum_free(struct waits_sums *s);

/* By process, in the order of @w; without quantiles. To be freed. */
struct waits_row *waits_totals(const struct waits *w);

/* What to call it: the site, or the object's name, or where that is waited for, or where it is. */
void waits_label(const struct waits_row *row, enum waits_by by, char *text, size_t size);

#endif
