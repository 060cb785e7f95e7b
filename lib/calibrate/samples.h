/* SPDX-License-Identifier: MIT */
/*
 * Samples of a figure, and what is reported of them: the median of each batch, and the median
 * of those. Never a mean: one slice of 4 ms that another thread gets moves the mean of a
 * hundred samples by 40 us.
 */
#ifndef IW_CALIBRATE_SAMPLES_H
#define IW_CALIBRATE_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A batch is taken in slices, all figures in turn: a disturbance of 50 ms then costs every
 * figure a quarter of its samples, which its median survives, and not one figure all of them.
 */
#define IW_SLICES 4u
#define IW_SLICE  8u
#define IW_BATCH  (IW_SLICES * IW_SLICE)

/* A batch with fewer good samples says nothing. */
#define IW_BATCH_LEAST 8u

/* Most batches of a figure. */
#define IW_BATCHES 5u

struct iw_summary {
	uint64_t p10_ns, median_ns, p90_ns; /* 0 without samples, else not */
	uint32_t used, discarded;
};

/* One figure. All zero to begin with. */
struct iw_series {
	uint64_t ns[IW_BATCH]; /* the good samples of the batch under way */
	unsigned used, discarded;
	struct iw_summary batch[IW_BATCHES];
	unsigned batches;
};

/* A sample. One that is not clean, or too many, is counted only. */
void iw_series_add(struct iw_series *s, uint64_t ns, bool clean);

/* The batch is complete. */
void iw_series_close(struct iw_series *s);

/* Of all complete batches: quantiles are medians over them, counts are sums. */
struct iw_summary iw_series_sum(const struct iw_series *s);

#endif
