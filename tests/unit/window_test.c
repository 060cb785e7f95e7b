/* SPDX-License-Identifier: MIT */
/* lib/policy/window.c: what is learned from waits, and the window that comes of it. */
#include <errno.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "policy/window.h"

#define B     30000
#define PRIOR (B * 54 / 100)

/* A threshold of the rule: a number of 64ths of B. */
#define SHARES(n) (B * (n) / 64)

/* A window with @counts in its bins that has learned from @learned waits. */
static struct ipcwait_window window(const unsigned counts[IW_WINDOW_BINS], uint32_t learned)
{
	struct ipcwait_window w = { { 0 }, { 0 }, { learned << 8 } };

	for (unsigned i = 0; i < IW_WINDOW_BINS; i++)
		w.bins.v |= (uint64_t)counts[i] << (5 * i);
	return w;
}

/* Bits of the histogram; above them is the rhythm. */
static uint64_t counts_of(const struct ipcwait_window *w)
{
	return w->bins.v & ((UINT64_C(1) << 40) - 1);
}

static unsigned count_in(const struct ipcwait_window *w, unsigned bin)
{
	return (unsigned)(w->bins.v >> (5 * bin)) & 31;
}

/* Without timed sleeps. */
static uint64_t spin_of(const struct ipcwait_window *w, uint64_t block_ns,
			uint64_t delay_ns)
{
	struct iw_plan plan;

	iw_window_plan(w, block_ns, delay_ns, NULL, &plan);
	assert_false(plan.timed);
	return plan.spin_ns;
}

static uint64_t choose(const unsigned counts[IW_WINDOW_BINS], uint32_t learned)
{
	struct ipcwait_window w = window(counts, learned);

	return spin_of(&w, B, 0);
}

static void test_prior_while_little_is_known(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	for (int waits = 0; waits < 4; waits++) {
		assert_int_equal(spin_of(&w, B, 0), PRIOR);
		iw_window_record(&w, 100, 0, B);
	}
	assert_int_not_equal(spin_of(&w, B, 0), PRIOR);
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [7] = 3 }, 255), PRIOR);
}

static void test_all_short_raises_to_b(void **state)
{
	(void)state;
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [0] = 31 }, 255), B);
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [0] = 2, [2] = 2 }, 4),
			 B);
	/* Up to B, and as far beyond as jitter takes away. */
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [5] = 9 }, 255),
			 SHARES(74));
}

static void test_all_long_sleeps_at_once(void **state)
{
	(void)state;
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [7] = 31 }, 8), 0);
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [7] = 31 }, 255), 0);
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [6] = 31 }, 255), 0);
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [7] = 31 }, 7), B / 8);
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [7] = 4 }, 4), B / 8);
}

/*
 * Worked out by hand, in 64ths of B. A wait counts as the middle of its bin; a longer one
 * costs the threshold and 64; threshold 0 costs 64 for each.
 */
static void test_cheapest_threshold(void **state)
{
	(void)state;
	/* 12 x 6 + 3 x (10 + 64) = 294 < 15 x 64, and no other is cheaper. */
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [1] = 12, [7] = 3 }, 255),
			 SHARES(10));
	/* 8 x 6 + 6 x 24 + 1 x (37 + 64) = 293 < 8 x 6 + 7 x (10 + 64). */
	assert_int_equal(
		choose((const unsigned[IW_WINDOW_BINS]){ [1] = 8, [3] = 6, [7] = 1 }, 255),
		SHARES(37));
	/* The same without the long one: nothing lies beyond, so up to B. */
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [1] = 8, [3] = 7 }, 255),
			 B);
	/* 2 x 2 + 13 x (5 + 64) = 901 < 960: two in fifteen are worth a spin of B/16 ... */
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [0] = 2, [7] = 13 }, 255),
			 SHARES(5));
	/* ... but not one: 1 x 2 + 14 x (5 + 64) = 968. */
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [0] = 1, [7] = 14 }, 255),
			 0);
	/* Little is known: at least B/8 all the same. */
	assert_int_equal(choose((const unsigned[IW_WINDOW_BINS]){ [0] = 1, [7] = 14 }, 7),
			 B / 8);
	/* The longest threshold leaves room for jitter below 2B. */
	assert_int_equal(
		choose((const unsigned[IW_WINDOW_BINS]){ [3] = 10, [6] = 8, [7] = 1 }, 255),
		SHARES(112));
}

/* The same waits, in units of B, give the same threshold in units of B. */
static void test_every_b_is_served_alike(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct ipcwait_window w[2] = { 0 };
		uint64_t factor = 1 + check_random(&seed) % 1000;

		for (int k = 0; k < 40; k++) {
			uint64_t ns =
				check_random(&seed) >> (40 + check_random(&seed) % 20);

			iw_window_record(&w[0], ns, 0, 64000);
			iw_window_record(&w[1], ns * factor, 0, 64000 * factor);
		}
		assert_int_equal(counts_of(&w[0]), counts_of(&w[1]));
		assert_int_equal(spin_of(&w[0], 64000, 0) * factor,
				 spin_of(&w[1], 64000 * factor, 0));
	}
}

/* A bin is covered even by the shortest spin that jitter makes of its threshold. */
static void test_jitter_does_not_uncover_a_bin(void **state)
{
	(void)state;
	for (uint64_t ns = 1; ns < B * 3 / 4; ns += 7) {
		struct ipcwait_window w = { 0 };
		uint64_t spin_ns;

		for (int i = 0; i < 20; i++)
			iw_window_record(&w, i % 10 ? ns : 100 * B, 0, B);
		spin_ns = spin_of(&w, B, 0);
		assert_true(spin_ns - spin_ns / 8 >= ns);
	}
}

static struct ipcwait_window random_window(uint64_t *seed)
{
	uint64_t bytes[2] = { check_random(seed), check_random(seed) };
	struct ipcwait_window w;

	_Static_assert(sizeof(w) == sizeof(bytes), "sixteen bytes");
	/* Sparse histograms choose thresholds that dense random ones never would. */
	if (bytes[1] & 1)
		bytes[0] &= check_random(seed) & check_random(seed);
	memcpy(&w, bytes, sizeof(w));
	return w;
}

/* B from 1 ns to 1 s, all magnitudes alike. */
static uint64_t random_block_ns(uint64_t *seed)
{
	uint64_t b = (check_random(seed) >> (34 + check_random(seed) % 30)) + 1;

	return b <= 1000000000 ? b : 1000000000;
}

static void test_any_bytes_stay_below_2b_with_jitter(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct ipcwait_window w = random_window(&seed);
		uint64_t block = random_block_ns(&seed);
		uint64_t delay = i % 2 ? 0 : random_block_ns(&seed);
		uint64_t ns = spin_of(&w, block, delay);

		assert_true(ns + ns / 8 <= 2 * block);
		if ((w.state.v >> 8 & 0xff) < 8)
			assert_true(ns >= block / 8);
	}
}

static void test_any_bytes_can_be_recorded_in(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct ipcwait_window before = random_window(&seed), after = before;

		iw_window_record(&after, check_random(&seed) >> (check_random(&seed) % 64),
				 check_random(&seed) >> (check_random(&seed) % 64),
				 random_block_ns(&seed));
		assert_int_equal(after.stamp.v, before.stamp.v);
		assert_int_equal(after.state.v & 0xffff00ff, before.state.v & 0xffff00ff);
	}
}

static void test_own_delay_lengthens_a_spin_that_pays(void **state)
{
	struct ipcwait_window shorts =
		window((const unsigned[IW_WINDOW_BINS]){ [1] = 12, [7] = 3 }, 255);
	struct ipcwait_window longs =
		window((const unsigned[IW_WINDOW_BINS]){ [7] = 15 }, 255);
	struct ipcwait_window unsure =
		window((const unsigned[IW_WINDOW_BINS]){ [7] = 15 }, 4);
	struct ipcwait_window fresh = { 0 };

	(void)state;
	assert_int_equal(spin_of(&shorts, B, 5000), SHARES(10) + 5000);
	assert_int_equal(spin_of(&shorts, B, 10 * B), SHARES(112));
	assert_int_equal(spin_of(&longs, B, 5000), 0);
	assert_int_equal(spin_of(&unsure, B, 5000), B / 8);
	assert_int_equal(spin_of(&fresh, B, 5000), PRIOR + 5000);
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
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ipcwait_window w = { 0 };

		iw_window_record(&w, rows[i].ns, 0, B);
		assert_int_equal(counts_of(&w), UINT64_C(1) << (5 * rows[i].bin));
	}
}

static void test_saturation_keeps_proportions(void **state)
{
	struct ipcwait_window w = window(
		(const unsigned[IW_WINDOW_BINS]){
			[0] = 1, [3] = 14, [4] = 31, [5] = 15, [7] = 28 },
		255);

	(void)state;
	iw_window_record(&w, 16000, 0, B);
	assert_int_equal(count_in(&w, 0), 0);
	assert_int_equal(count_in(&w, 3), 7);
	assert_int_equal(count_in(&w, 4), 16);
	assert_int_equal(count_in(&w, 5), 7);
	assert_int_equal(count_in(&w, 7), 14);
	/* All full: nothing runs over into a neighbour. */
	w = (struct ipcwait_window){ { UINT64_MAX }, { 0 }, { 0 } };
	iw_window_record(&w, UINT64_MAX, 0, B);
	assert_int_equal(counts_of(&w), UINT64_C(0x83def7bdef));
}

/* Given up beyond 2B: as long as any, but not regular. */
static void test_unended(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	for (int i = 0; i < 31; i++)
		iw_window_record_unended(&w);
	assert_int_equal(w.bins.v, UINT64_C(31) << 35);
	assert_int_equal(w.state.v, 31 << 8);
	assert_int_equal(spin_of(&w, B, 0), 0);
	w.bins.v |= UINT64_C(0xabcdef) << 40;
	iw_window_record_unended(&w);
	assert_int_equal(w.bins.v, UINT64_C(0xabcdef) << 40 | UINT64_C(16) << 35);
}

static void test_changes_its_mind(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	for (int i = 0; i < 300; i++)
		iw_window_record(&w, 10000000, 0, B);
	assert_int_equal(spin_of(&w, B, 0), 0);
	for (int i = 0; i < 60; i++)
		iw_window_record(&w, 700, 0, B);
	assert_true(spin_of(&w, B, 0) >= 1024);
	for (int i = 0; i < 130; i++)
		iw_window_record(&w, 10000000, 0, B);
	assert_int_equal(spin_of(&w, B, 0), 0);
}

static void test_learned_stops_at_255(void **state)
{
	struct ipcwait_window w = { { 0 }, { 0 }, { (7u << 16) | IPCWAIT_POWER } };

	(void)state;
	for (int i = 0; i < 1000; i++)
		iw_window_record(&w, 700, 0, B);
	assert_int_equal(w.state.v, (7u << 16) | (255u << 8) | IPCWAIT_POWER);
}

/* A stamp has a grain of 16 ns. */
static void assert_age(const struct ipcwait_window *w, uint64_t now, uint64_t want)
{
	uint64_t age;

	assert_true(iw_window_stamp_age(w, now, UINT64_MAX, &age));
	assert_in_range(age, want > 16 ? want - 16 : 0, want + 16);
}

static void test_stamp_age(void **state)
{
	struct ipcwait_window w = { 0 };
	uint64_t age;

	(void)state;
	assert_false(iw_window_stamp_age(&w, 5000, UINT64_MAX, &age));
	iw_window_put_stamp(&w, 123456789, 0);
	assert_age(&w, 123456789 + 100, 100);
	assert_age(&w, 123456789 + 20000, 20000);
	assert_age(&w, 123456789 + 5000000000, 5000000000);
	/* From an earlier wait. */
	assert_false(iw_window_stamp_age(&w, 123456789 + 20000, 19000, &age));
	assert_true(iw_window_stamp_age(&w, 123456789 + 20000, 21000, &age));
}

static void test_stamp_wraps(void **state)
{
	const uint64_t wrap = UINT64_C(1) << 35; /* ns in 2^32 units of 8 ns */
	struct ipcwait_window w = { 0 };
	uint64_t age;

	(void)state;
	iw_window_put_stamp(&w, wrap - 1000, 0);
	assert_age(&w, wrap + 2000, 3000);
	iw_window_put_stamp(&w, wrap, 0);
	assert_int_not_equal(w.stamp.v, 0);
	assert_age(&w, wrap + 700, 700);
	iw_window_put_stamp(&w, 900 * wrap - 8, 0);
	assert_age(&w, 900 * wrap + 4000, 4008);
	/* A stamp from the future, as only a broken peer leaves it, is none. */
	iw_window_put_stamp(&w, 10000000, 0);
	assert_false(iw_window_stamp_age(&w, 9000000, 1000000000, &age));
}

static void test_waker_cpu(void **state)
{
	struct ipcwait_window w = { { 0 }, { 0 }, { (99u << 8) | IPCWAIT_SPIN } };

	(void)state;
	assert_int_equal(iw_window_waker_cpu(&w), 0);
	iw_window_put_stamp(&w, 1000, 0);
	assert_int_equal(iw_window_waker_cpu(&w), 1);
	iw_window_put_stamp(&w, 1000, 8191);
	assert_int_equal(iw_window_waker_cpu(&w), 8192);
	iw_window_put_stamp(&w, 1000, 65534);
	assert_int_equal(iw_window_waker_cpu(&w), 65535);
	iw_window_put_stamp(&w, 1000, 65535);
	assert_int_equal(iw_window_waker_cpu(&w), 0);
	iw_window_put_stamp(&w, 1000, UINT32_MAX);
	assert_int_equal(iw_window_waker_cpu(&w), 0);
	assert_int_equal(w.state.v, (99u << 8) | IPCWAIT_SPIN);
}

static void test_preset(void **state)
{
	struct ipcwait_window w = window((const unsigned[IW_WINDOW_BINS]){ [3] = 12 }, 77);

	(void)state;
	iw_window_put_stamp(&w, 1000, 4);
	for (unsigned p = IPCWAIT_INHERIT; p <= IPCWAIT_BLOCK; p++) {
		assert_int_equal(ipcwait_window_set_preset(&w, (enum ipcwait_preset)p), 0);
		assert_int_equal(iw_window_preset(&w), p);
		assert_int_equal(count_in(&w, 3), 12);
		assert_int_equal(w.state.v >> 8, (5u << 8) | 77);
	}
	iw_window_record(&w, 100, 0, B);
	assert_int_equal(iw_window_preset(&w), IPCWAIT_BLOCK);
	/* What a hostile or newer peer may have put there. */
	for (uint32_t p = IPCWAIT_BLOCK + 1; p <= 255; p++) {
		w.state.v = (w.state.v & ~0xffu) | p;
		assert_int_equal(iw_window_preset(&w), IPCWAIT_INHERIT);
	}
	assert_int_equal(ipcwait_window_set_preset(&w, IPCWAIT_POWER), 0);
	assert_int_equal(iw_window_preset(&w), IPCWAIT_POWER);
}

static void test_preset_errors(void **state)
{
	struct ipcwait_window two[2] = { { { 0 }, { 0 }, { IPCWAIT_SPIN } },
					 { { 0 }, { 0 }, { 0 } } };
	struct ipcwait_window before = two[0];
	struct ipcwait_window *misaligned =
		(struct ipcwait_window *)(void *)((char *)two + 4);

	(void)state;
	assert_int_equal(ipcwait_window_set_preset(NULL, IPCWAIT_SPIN), -EINVAL);
	assert_int_equal(ipcwait_window_set_preset(misaligned, IPCWAIT_SPIN), -EINVAL);
	assert_int_equal(ipcwait_window_set_preset(two, (enum ipcwait_preset)6), -EINVAL);
	assert_int_equal(ipcwait_window_set_preset(two, (enum ipcwait_preset) - 1),
			 -EINVAL);
	assert_int_equal(ipcwait_window_set_preset(two, (enum ipcwait_preset)256), -EINVAL);
	assert_memory_equal(&two[0], &before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prior_while_little_is_known),
		cmocka_unit_test(test_all_short_raises_to_b),
		cmocka_unit_test(test_all_long_sleeps_at_once),
		cmocka_unit_test(test_cheapest_threshold),
		cmocka_unit_test(test_every_b_is_served_alike),
		cmocka_unit_test(test_jitter_does_not_uncover_a_bin),
		cmocka_unit_test(test_any_bytes_stay_below_2b_with_jitter),
		cmocka_unit_test(test_any_bytes_can_be_recorded_in),
		cmocka_unit_test(test_own_delay_lengthens_a_spin_that_pays),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_saturation_keeps_proportions),
		cmocka_unit_test(test_unended),
		cmocka_unit_test(test_changes_its_mind),
		cmocka_unit_test(test_learned_stops_at_255),
		cmocka_unit_test(test_stamp_age),
		cmocka_unit_test(test_stamp_wraps),
		cmocka_unit_test(test_waker_cpu),
		cmocka_unit_test(test_preset),
		cmocka_unit_test(test_preset_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
