/* SPDX-License-Identifier: MIT */
/*
 * Waits of one length, again and again on one semaphore for each variant, in small blocks:
 * every variant has one block in turn, and who begins changes. What a round keeps of a figure
 * is the median over its blocks; quotients are formed within a block.
 */
#ifndef WAIT_BENCH_STEADY_H
#define WAIT_BENCH_STEADY_H

#include "handoff.h"
#include "row.h"

#define STEADY_VARIANTS_MOST 4

enum steady_column {
	STEADY_LATENCY, /* us, the median of a block */
	STEADY_P99,
	STEADY_CPU, /* us of the waiter's, per hand-off */
	STEADY_POST,
	STEADY_SLEPT,
	STEADY_ASTRAY,
	STEADY_LATENCY_X, /* latency and CPU as multiples of the first variant's */
	STEADY_CPU_X,
	STEADY_COLUMNS,
};

extern const struct column steady_columns[STEADY_COLUMNS];

struct steady {
	const struct sem_ops *const *variants; /* the first is the reference */
	unsigned n_variants;
	const char *point;
	double wait_us;
	double block_us; /* how long a block lasts, about */
	uint64_t least;  /* hand-offs in a block */
	unsigned blocks; /* in a round */
	uint64_t warm;   /* hand-offs before the first block */
};

/* All rounds. @lines, one for each variant, are made. */
void steady_run(struct report *r, const struct options *o, struct handoff *h,
		const struct steady *s, struct line *lines[STEADY_VARIANTS_MOST]);

#endif
