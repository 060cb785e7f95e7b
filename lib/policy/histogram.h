/* SPDX-License-Identifier: MIT */
/*
 * Lengths of waits, remembered in 40 bits: eight counts of five bits each, which fade. Objects,
 * call sites and kinds remember their waits in this form. The argument is in
 * docs/design/window.md.
 *
 *   bits 5i .. 5i+4   how many of the remembered waits had a length in bin i
 *   bin 0 .. 6        below 1/16, 1/8, 1/4, 1/2, 3/4, 1, 7/4 of B, and not in an earlier one
 *   bin 7             7/4 B and more
 */
#ifndef IW_POLICY_HISTOGRAM_H
#define IW_POLICY_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define IW_BINS           8
#define IW_BIN_LONG       (IW_BINS - 1)
#define IW_HISTOGRAM_BITS 40
#define IW_HISTOGRAM_MASK ((UINT64_C(1) << IW_HISTOGRAM_BITS) - 1)

/* Fewer waits than this say nothing yet about those to come. */
#define IW_FEW_WAITS 4u

/* Thresholds are numbers of 64ths of B. This is the longest. */
#define IW_SHARES        64
#define IW_LONGEST_SHARE 112

static inline uint64_t iw_of_block(uint64_t block_ns, unsigned share)
{
	return block_ns * share / IW_SHARES;
}

/* The bin of a wait of @wait_ns if a sleep costs @block_ns. */
unsigned iw_bin_of(uint64_t wait_ns, uint64_t block_ns);

/* What the waits in @bin are shorter than, in 64ths of B; UINT32_MAX for the last. */
unsigned iw_bin_edge(unsigned bin);

unsigned iw_histogram_count(uint64_t bins, unsigned bin);
unsigned iw_histogram_total(uint64_t bins);

/*
 * @n waits more in @bin, 1 to 8. Beyond 31 all counts are halved, so the last 31 to 62 waits
 * count.
 */
uint64_t iw_histogram_add(uint64_t bins, unsigned bin, unsigned n);

/*
 * The threshold that costs least in expectation, in 64ths of B, over the waits of @bins and,
 * @weight times each, those of @own. 0: to sleep at once costs least.
 */
unsigned iw_histogram_cheapest(uint64_t bins, uint64_t own, unsigned weight);

#endif
