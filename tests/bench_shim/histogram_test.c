/* SPDX-License-Identifier: MIT */
#include "../common/check.h"

#include "../../bench/common/histogram.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

/* Where a bucket can go wrong: at powers of two, and one beside them. */
static const uint64_t edges[] = {
	0,
	1,
	63,
	64,
	65,
	127,
	128,
	129,
	4095,
	4096,
	4097,
	1000000,
	(UINT64_C(1) << 41) - 1,
	UINT64_C(1) << 41,
	(UINT64_C(1) << 42) - 1,
};

static struct histogram *new_histogram(void)
{
	struct histogram *h = calloc(1, sizeof(*h));

	CHECK(h);
	return h;
}

static unsigned only_bucket(const struct histogram *h)
{
	unsigned found = HISTOGRAM_BUCKETS;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->bucket[i])
			found = found == HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS + 1;
	CHECK(found < HISTOGRAM_BUCKETS);
	return found;
}

static void buckets_follow_each_other(void **state)
{
	(void)state;
	CHECK_EQ(histogram_low(0), 0);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		CHECK_EQ(histogram_low(i + 1), histogram_high(i) + 1);
		CHECK(histogram_high(i) - histogram_low(i) <= histogram_low(i) / 64);
	}
	CHECK_EQ(histogram_high(HISTOGRAM_BUCKETS - 1), (INT64_C(1) << HISTOGRAM_BITS) - 1);
}

static void a_value_is_in_its_bucket(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
		struct histogram *h = new_histogram();
		unsigned bucket;

		histogram_add(h, edges[i]);
		bucket = only_bucket(h);
		CHECK(histogram_low(bucket) <= edges[i]);
		CHECK(edges[i] <= histogram_high(bucket));
		CHECK_EQ(histogram_quantile(h, 1), edges[i]);
		free(h);
	}
}

static void what_is_too_large_is_counted(void **state)
{
	struct histogram *h = new_histogram();

	(void)state;
	histogram_add(h, UINT64_C(1) << HISTOGRAM_BITS);
	histogram_add(h, UINT64_MAX);
	CHECK_EQ(h->bucket[HISTOGRAM_BUCKETS - 1], 2);
	CHECK(histogram_quantile(h, 1) >= 0x1p63);
	CHECK(histogram_end(h, HISTOGRAM_BUCKETS - 1) == UINT64_MAX);
	free(h);
}

/* Against the sorted values themselves: within half a bucket. */
static void quantiles_are_near_the_truth(void **state)
{
	static const double shares[] = { 0.001, 0.1, 0.5, 0.9, 0.99, 0.999 };
	struct histogram *h = new_histogram();
	double sum = 0;

	(void)state;
	for (uint64_t v = 1; v <= 100000; v++) {
		histogram_add(h, v * 7919 % 100003);
		sum += (double)(v * 7919 % 100003);
	}
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double truth = shares[i] * 100003;

		CHECK(fabs(histogram_quantile(h, shares[i]) - truth) <= truth / 64 + 1);
	}
	CHECK(fabs(histogram_mean(h) - sum / 100000) < 1e-6);
	free(h);
}

static void two_are_one_after_merging(void **state)
{
	struct histogram *all = new_histogram(), *a = new_histogram(), *b = new_histogram();

	(void)state;
	for (uint64_t v = 0; v < 5000; v++) {
		histogram_add(all, v * v);
		histogram_add(v % 3 ? a : b, v * v);
	}
	histogram_merge(a, b);
	CHECK_EQ(a->count, all->count);
	CHECK_EQ(a->max, all->max);
	assert_memory_equal(a->bucket, all->bucket, sizeof(a->bucket));
	free(all);
	free(a);
	free(b);
}

static void empty(void **state)
{
	struct histogram *h = new_histogram();

	(void)state;
	CHECK(histogram_quantile(h, 0.5) == 0);
	CHECK(histogram_mean(h) == 0);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_follow_each_other),
		cmocka_unit_test(a_value_is_in_its_bucket),
		cmocka_unit_test(what_is_too_large_is_counted),
		cmocka_unit_test(quantiles_are_near_the_truth),
		cmocka_unit_test(two_are_one_after_merging),
		cmocka_unit_test(empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
