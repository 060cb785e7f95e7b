/* SPDX-License-Identifier: MIT */
#include "histogram.h"

#define SUB_BUCKETS (1U << HISTOGRAM_SUB_BITS)

/*
 * The highest bits of the value, one more than HISTOGRAM_SUB_BITS, tell the place within its
 * power of two; how far they are shifted tells the power.
 */
static unsigned bucket_of(uint64_t value)
{
	unsigned shift;

	if (value < SUB_BUCKETS)
		return (unsigned)value;
	if (value >> HISTOGRAM_BITS)
		return HISTOGRAM_BUCKETS - 1;
	shift = 63 - (unsigned)__builtin_clzll(value) - HISTOGRAM_SUB_BITS;
	return (shift << HISTOGRAM_SUB_BITS) + (unsigned)(value >> shift);
}

uint64_t histogram_low(unsigned i)
{
	unsigned shift;

	if (i < SUB_BUCKETS)
		return i;
	shift = (i >> HISTOGRAM_SUB_BITS) - 1;
	return (uint64_t)(SUB_BUCKETS + i % SUB_BUCKETS) << shift;
}

uint64_t histogram_high(unsigned i)
{
	return histogram_low(i + 1) - 1;
}

uint64_t histogram_end(const struct histogram *h, unsigned i)
{
	uint64_t high = histogram_high(i);

	return i == HISTOGRAM_BUCKETS - 1 && h->max > high ? h->max : high;
}

void histogram_add(struct histogram *h, uint64_t value)
{
	h->count++;
	h->sum += (double)value;
	h->max = value > h->max ? value : h->max;
	h->bucket[bucket_of(value)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
	h->count += other->count;
	h->sum += other->sum;
	h->max = other->max > h->max ? other->max : h->max;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->bucket[i] += other->bucket[i];
}

static double middle(const struct histogram *h, unsigned i)
{
	double value = ((double)histogram_low(i) + (double)histogram_end(h, i)) / 2;

	return value < (double)h->max ? value : (double)h->max;
}

double histogram_quantile(const struct histogram *h, double q)
{
	double wanted = q * (double)h->count;
	uint64_t below = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && q < 1; i++) {
		below += h->bucket[i];
		if (h->bucket[i] && (double)below >= wanted)
			return middle(h, i);
	}
	return (double)h->max;
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? h->sum / (double)h->count : 0;
}
