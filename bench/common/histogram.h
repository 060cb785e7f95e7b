/* SPDX-License-Identifier: MIT */
/*
 * Counts of values by size, in buckets whose width grows with the value: 64 to every power of
 * two, so that a bucket is at most 1/64 (1.6 %) of what is in it, and values below 128 are
 * exact. The idea, and the name for it, are from G. Tene's HdrHistogram.
 *
 * One thread writes to one histogram; add them up at the end.
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values from 2^42 on (73 minutes in ns) are counted in the last bucket. */
#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_BITS     42
#define HISTOGRAM_BUCKETS  ((HISTOGRAM_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/* All zero is empty. */
struct histogram {
	uint64_t count;
	uint64_t max; /* exact */
	double sum;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *h, const struct histogram *other);

/*
 * The smallest and the largest value that bucket @i is for. The last one counts larger ones too:
 * histogram_end() is the end of a bucket of @h whatever is in it.
 */
uint64_t histogram_low(unsigned i);
uint64_t histogram_high(unsigned i);
uint64_t histogram_end(const struct histogram *h, unsigned i);

/*
 * A value in whose bucket the share @q of all values is reached: the middle of that bucket, or
 * the greatest value if that is less, and always for @q = 1. 0 if the histogram is empty.
 */
double histogram_quantile(const struct histogram *h, double q);

double histogram_mean(const struct histogram *h); /* 0 if it is empty */

#ifdef __cplusplus
}
#endif

#endif
