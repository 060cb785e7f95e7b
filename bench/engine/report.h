/* SPDX-License-Identifier: MIT */
/*
 * What a row of the table has measured: raw values of every round, and what is made of them.
 *
 * It lies in memory that the row's process and the main program share, so it holds no
 * pointers but those to constants.
 *
 * NAN stands for "not measured" and is never mixed with zero.
 */
#ifndef WAIT_BENCH_REPORT_H
#define WAIT_BENCH_REPORT_H

#include "options.h"

#include <limits.h>

#define COLUMNS_MOST 8
#define LINES_MOST   192
#define BARS_MOST    64
#define NOTES_MOST   16
#define CURVES_MOST  40
#define SAMPLES_MOST 200
#define POINT_SIZE   32

/* CPUs kept busy by others from which on the figures are called disturbed. */
#define DISTURBED 0.05

struct column {
	const char *title;
	const char *key; /* in JSON */
	int width;
	int decimals;
};

/* One variant at one point. */
struct line {
	char point[POINT_SIZE]; /* "30 us"; the same for all variants that are compared */
	char variant[20];       /* "ADAPTIVE" */
	double value[COLUMNS_MOST][ROUNDS_MOST];
};

/* A bar is reached if the value is at most the limit, or at least. */
struct bar {
	char text[120];
	double value; /* NAN: could not be judged, and is not reached */
	double limit;
	bool at_least;
};

struct curve {
	char name[64];
	unsigned n;
	double at[SAMPLES_MOST];
	double value[SAMPLES_MOST];
};

struct report {
	enum wakes wakes; /* in which it was measured */
	unsigned rounds;
	unsigned first_kept;   /* the medians are over the rounds first_kept .. */
	unsigned n_kept;       /* .. first_kept + n_kept - 1 */
	char unavailable[160]; /* why nothing was measured; empty: it was */
	char group[PATH_MAX];  /* a control group to remove when the row has ended */
	double seconds;        /* that it took */
	double busy_others;    /* CPUs that others kept busy meanwhile; NAN: not known */
	unsigned n_columns, n_lines, n_bars, n_notes, n_curves;
	struct column columns[COLUMNS_MOST];
	struct line lines[LINES_MOST];
	struct bar bars[BARS_MOST];
	char notes[NOTES_MOST][200];
	struct curve curves[CURVES_MOST];
};

/* With fewer than @rounds rounds kept no more than that many are run. NULL: no memory. */
struct report *report_create(unsigned rounds);

void report_columns(struct report *r, const struct column *columns, unsigned n);
struct line *report_line(struct report *r, const char *point, const char *variant);
struct curve *report_curve(struct report *r, const char *name);

__attribute__((format(printf, 2, 3))) void report_note(struct report *r, const char *format,
						       ...);
__attribute__((format(printf, 2, 3))) void report_unavailable(struct report *r,
							      const char *format, ...);
__attribute__((format(printf, 4, 5))) void report_bar(struct report *r, double value,
						      double limit, const char *format,
						      ...);
__attribute__((format(printf, 4, 5))) void report_bar_at_least(struct report *r,
							       double value, double limit,
							       const char *format, ...);

/* Of one value per round: the median of the rounds that are kept. */
double report_median(const struct report *r, const double *of_rounds);

/* Of one value per round: the highest of all rounds. */
double report_worst(const struct report *r, const double *of_rounds);

bool report_disturbed(const struct report *r);
bool report_reached(const struct bar *b);

#endif
