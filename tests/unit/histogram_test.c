/* SPDX-License-Identifier: MIT */
/* lib/policy/histogram.c: lengths of waits in forty bits, and the threshold that they say. */
#include "common/cmocka_all.h"
#include "policy/histogram.h"

#define B    30000
#define FULL 31u

/* A histogram with these counts. */
static uint64_t bins_of(const unsigned counts[IW_BINS])
{
	uint64_t bins = 0;

	for (unsigned i = 0; i < IW_BINS; i++)
		bins |= (uint64_t)counts[i] << (5 * i);
	return bins;
}

static unsigned cheapest(const unsigned counts[IW_BINS])
{
	return iw_histogram_cheapest(bins_of(counts), 0, 0);
}

#define COUNTS(...) ((const unsigned[IW_BINS]){ __VA_ARGS__ })

/* Sparse histograms choose thresholds that dense random ones never would. */
static uint64_t random_bins(uint64_t *seed)
{
	uint64_t bins = check_random(seed) & IW_HISTOGRAM_MASK;

	if (check_random(seed) & 1)
		bins &= check_random(seed) & check_random(seed);
	return bins;
}

static void test_bins(void **state)
{
	static const struct {
		uint64_t ns;
		unsigned bin;
	} rows[] = {
		{ 0, 0 },          { 1874, 0 },  { 1875, 1 },  { 3749, 1 },
		{ 3750, 2 },       { 7499, 2 },  { 7500, 3 },  { 14999, 3 },
		{ 15000, 4 },      { 22499, 4 }, { 22500, 5 }, { 29999, 5 },
		{ 30000, 6 },      { 52499, 6 }, { 52500, 7 }, { UINT32_MAX, 7 },
		{ UINT64_MAX, 7 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(iw_bin_of(rows[i].ns, B), rows[i].bin);
	/* What a bin holds lies below its edge, and not below the one before. */
	for (unsigned i = 0; i < IW_BIN_LONG; i++) {
		uint64_t edge_ns = iw_of_block(B, iw_bin_edge(i));

		assert_int_equal(iw_bin_of(edge_ns - 1, B), i);
		assert_int_equal(iw_bin_of(edge_ns, B), i + 1);
	}
	assert_int_equal(iw_bin_edge(IW_BIN_LONG), UINT32_MAX);
}

/* The same waits, in units of B, are in the same bins. */
static void test_every_b_is_served_alike(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t ns = check_random(&seed) >> (40 + check_random(&seed) % 20);
		uint64_t factor = 1 + check_random(&seed) % 1000;

		assert_int_equal(iw_bin_of(ns, 64000),
				 iw_bin_of(ns * factor, 64000 * factor));
	}
}

static void test_counts(void **state)
{
	uint64_t bins = bins_of(COUNTS(1, 2, 3, 4, 5, 6, 7, FULL));

	(void)state;
	for (unsigned i = 0; i < IW_BIN_LONG; i++)
		assert_int_equal(iw_histogram_count(bins, i), i + 1);
	assert_int_equal(iw_histogram_count(bins, IW_BIN_LONG), FULL);
	assert_int_equal(iw_histogram_total(bins), 28 + FULL);
	assert_int_equal(iw_histogram_total(IW_HISTOGRAM_MASK), IW_BINS * FULL);
	assert_int_equal(iw_histogram_total(0), 0);
}

/* What is added is there, the others stay or are halved with it, and nothing else is touched. */
static void test_adding(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 300000; i++) {
		uint64_t before = random_bins(&seed), after;
		unsigned bin = (unsigned)check_random(&seed) % IW_BINS;
		unsigned n = 1 + (unsigned)check_random(&seed) % 8;
		bool full = iw_histogram_count(before, bin) + n > FULL;

		after = iw_histogram_add(before, bin, n);
		for (unsigned k = 0; k < IW_BINS; k++)
			assert_int_equal(iw_histogram_count(after, k),
					 (iw_histogram_count(before, k) >> full) +
						 (k == bin ? n : 0));
		assert_int_equal(after & ~IW_HISTOGRAM_MASK, 0);
	}
}

/* However many waits there were, the last few dozen decide. */
static void test_fades(void **state)
{
	uint64_t bins = 0;

	(void)state;
	for (int i = 0; i < 300; i++)
		bins = iw_histogram_add(bins, IW_BIN_LONG, 1);
	assert_in_range(iw_histogram_total(bins), 16, FULL);
	assert_int_equal(iw_histogram_cheapest(bins, 0, 0), 0);
	for (int i = 0; i < 60; i++)
		bins = iw_histogram_add(bins, 0, 1);
	assert_int_not_equal(iw_histogram_cheapest(bins, 0, 0), 0);
	for (int i = 0; i < 130; i++)
		bins = iw_histogram_add(bins, IW_BIN_LONG, 1);
	assert_int_equal(iw_histogram_cheapest(bins, 0, 0), 0);
}

static void test_all_short_raises_to_b(void **state)
{
	(void)state;
	assert_int_equal(cheapest(COUNTS([0] = 31)), 64);
	assert_int_equal(cheapest(COUNTS([0] = 2, [2] = 2)), 64);
	assert_int_equal(cheapest(COUNTS([3] = 1)), 64);
	/* Up to B, and a little beyond. */
	assert_int_equal(cheapest(COUNTS([5] = 9)), 74);
}

static void test_all_long_sleeps_at_once(void **state)
{
	(void)state;
	assert_int_equal(cheapest(COUNTS([7] = 31)), 0);
	assert_int_equal(cheapest(COUNTS([6] = 31)), 0);
	assert_int_equal(cheapest(COUNTS([7] = 1)), 0);
	assert_int_equal(cheapest(COUNTS(0)), 0);
}

/*
 * Worked out by hand, in 64ths of B. A wait counts as the middle of its bin; a longer one
 * costs the threshold and 64; threshold 0 costs 64 for each.
 */
static void test_cheapest_threshold(void **state)
{
	(void)state;
	/* 12 x 6 + 3 x (10 + 64) = 294 < 15 x 64, and no other is cheaper. */
	assert_int_equal(cheapest(COUNTS([1] = 12, [7] = 3)), 10);
	/* 8 x 6 + 6 x 24 + 1 x (37 + 64) = 293 < 8 x 6 + 7 x (10 + 64). */
	assert_int_equal(cheapest(COUNTS([1] = 8, [3] = 6, [7] = 1)), 37);
	/* The same without the long one: nothing lies beyond, so up to B. */
	assert_int_equal(cheapest(COUNTS([1] = 8, [3] = 7)), 64);
	/* 2 x 2 + 13 x (5 + 64) = 901 < 960: two in fifteen are worth a spin of B/16 ... */
	assert_int_equal(cheapest(COUNTS([0] = 2, [7] = 13)), 5);
	/* ... but not one: 1 x 2 + 14 x (5 + 64) = 968. */
	assert_int_equal(cheapest(COUNTS([0] = 1, [7] = 14)), 0);
	assert_int_equal(cheapest(COUNTS([3] = 10, [6] = 8, [7] = 1)), 112);
}

/* A threshold covers its bin, and what comes a little later. */
static void test_thresholds_lie_beyond_their_bins(void **state)
{
	(void)state;
	for (uint64_t ns = 1; ns < B * 3 / 4; ns += 7) {
		uint64_t bins = 0, spin_ns;

		for (int i = 0; i < 20; i++)
			bins = iw_histogram_add(bins, i % 10 ? iw_bin_of(ns, B) : 7, 1);
		spin_ns = iw_of_block(B, iw_histogram_cheapest(bins, 0, 0));
		assert_true(spin_ns - spin_ns / 8 >= ns);
	}
}

static void test_never_beyond_2b(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 300000; i++) {
		unsigned share =
			iw_histogram_cheapest(random_bins(&seed), random_bins(&seed),
					      (unsigned)check_random(&seed) % 9);

		assert_true(share <= IW_LONGEST_SHARE);
		assert_true(share + share / 8 <= 2 * IW_SHARES);
	}
}

/* Two histograms say what one of all their waits would. */
static void test_weight(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		/* Counts of at most 3, so that the sum of both fits. */
		const uint64_t few = UINT64_C(0x18c6318c63);
		uint64_t bins = check_random(&seed) & few, sum = bins;
		uint64_t own = check_random(&seed) & few;
		unsigned weight = 1 + (unsigned)check_random(&seed) % 8;

		for (unsigned k = 0; k < IW_BINS; k++)
			sum += (uint64_t)(weight * iw_histogram_count(own, k)) << (5 * k);
		assert_int_equal(iw_histogram_cheapest(bins, own, weight),
				 iw_histogram_cheapest(sum, 0, 0));
		assert_int_equal(iw_histogram_cheapest(bins, own, 0),
				 iw_histogram_cheapest(bins, 0, 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_every_b_is_served_alike),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_adding),
		cmocka_unit_test(test_fades),
		cmocka_unit_test(test_all_short_raises_to_b),
		cmocka_unit_test(test_all_long_sleeps_at_once),
		cmocka_unit_test(test_cheapest_threshold),
		cmocka_unit_test(test_thresholds_lie_beyond_their_bins),
		cmocka_unit_test(test_never_beyond_2b),
		cmocka_unit_test(test_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
