/* SPDX-License-Identifier: MIT */
#include "policy/ablation.h"
#include "policy/histogram.h"

#define BIN_BITS 5
#define BIN_MAX  31u
#define HALVE    UINT64_C(0x7bdef7bdef) /* what stays of each count when all are shifted */

/*
 * The bins but the last, in 64ths of B, so that every B is served alike. A threshold lies
 * 1/7 beyond the edge that it serves, for waits that come a little later. Edges by policy_sim:
 * twelve bins or sixteen gain less than 0.005 of the suite mean, octaves in ns lose as much.
 */
static const struct bin {
	uint8_t edge;      /* waits below this */
	uint8_t threshold; /* the spin that covers them */
	uint8_t typical;   /* what one of them lasts */
} bins_below[IW_BIN_LONG] = {
	{ 4, 5, 2 },
	{ 8, 10, 6 },
	{ 16, 19, 12 },
	{ 32, 37, 24 },
	{ 48, 55, 40 },
	{ 64, 74, 56 },
	{ 112, IW_LONGEST_SHARE, 88 },
};

unsigned iw_bin_of(uint64_t wait_ns, uint64_t block_ns)
{
	unsigned i = 0;

	if (wait_ns >= iw_of_block(block_ns, IW_LONGEST_SHARE))
		return IW_BIN_LONG;
	while (wait_ns >= iw_of_block(block_ns, bins_below[i].edge))
		i++;
	return i;
}

unsigned iw_bin_edge(unsigned bin)
{
	return bin < IW_BIN_LONG ? bins_below[bin].edge : UINT32_MAX;
}

unsigned iw_histogram_count(uint64_t bins, unsigned bin)
{
	return (unsigned)(bins >> (BIN_BITS * bin)) & BIN_MAX;
}

unsigned iw_histogram_total(uint64_t bins)
{
	unsigned total = 0;

	for (unsigned i = 0; i < IW_BINS; i++)
		total += iw_histogram_count(bins, i);
	return total;
}

uint64_t iw_histogram_add(uint64_t bins, unsigned bin, unsigned n)
{
	if (iw_histogram_count(bins, bin) + n > BIN_MAX)
		bins = bins >> 1 & HALVE;
	return bins + ((uint64_t)n << (BIN_BITS * bin));
}

/*
 * Waits in the bins that a threshold covers cost their length, longer ones the threshold and a
 * sleep. Threshold zero costs one sleep per wait. (That those of the last bin sleep for less if
 * they can be timed does not matter here: they sleep whatever the threshold is.)
 *
 * A threshold that all remembered waits stay below is raised to B: nothing is known about
 * the waits beyond it, and B is the best threshold for those. Without this the one wait in
 * a thousand that an interrupt lengthens by 5 us slept, and cost 7 % of sem_test's time.
 */
unsigned iw_histogram_cheapest(uint64_t bins, uint64_t own, unsigned weight)
{
	unsigned longer = iw_histogram_total(bins) + weight * iw_histogram_total(own);
	unsigned best = 0, best_cost = longer * IW_SHARES, short_cost = 0;

	for (unsigned i = 0; i < IW_BIN_LONG; i++) {
		const struct bin *b = &bins_below[i];
		unsigned n =
			iw_histogram_count(bins, i) + weight * iw_histogram_count(own, i);
		unsigned cost;

		longer -= n;
		short_cost += n * b->typical;
		cost = short_cost + longer * (b->threshold + IW_SHARES);
		if (cost < best_cost) {
			best_cost = cost;
			best = longer || b->threshold > IW_SHARES ||
					       iw_without(IW_RAISE_TO_B)
				       ? b->threshold
				       : IW_SHARES;
		}
	}
	return best;
}
