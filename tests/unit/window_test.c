/* SPDX-License-Identifier: MIT */
/* lib/policy/window.c: what is learned from waits, and the window that comes of it. */
#include <errno.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "policy/window.h"

#define B      30000
#define PRIOR  34
#define SECOND 22

/* Waits until an object is judged by its own alone. */
#define KNOWN 8

/* Where the members of the state are. */
#define LEARNED(n) ((uint32_t)(n) << 3)
#define SHARE(n)   ((uint32_t)(n) << 9)
#define CPU(n)     ((uint32_t)(n) << 16)

static unsigned share_of(const struct ipcwait_window *w)
{
	return iw_state_share(iw_window_state(w));
}

static bool known(const struct ipcwait_window *w)
{
	return iw_state_known(iw_window_state(w));
}

/* The threshold that holds for it at a place where nothing is known. */
static unsigned threshold(const struct ipcwait_window *w)
{
	return known(w) ? share_of(w) : iw_window_young_share(w, 0);
}

static void record(struct ipcwait_window *w, unsigned n, unsigned bin)
{
	while (n--)
		iw_window_record(w, bin, 1, 0);
}

/* So many waits in @bin, as a site or a kind remembers them. */
static uint64_t history(unsigned n, unsigned bin)
{
	uint64_t bins = 0;

	while (n--)
		bins = iw_histogram_add(bins, bin, 1);
	return bins;
}

static void test_known_from_eight_waits_on(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	for (int waits = 0; waits < KNOWN; waits++) {
		assert_false(known(&w));
		record(&w, 1, waits % 2 ? 1 : IW_BIN_LONG);
	}
	assert_true(known(&w));
	/* What its histogram says, worked out while it waited. */
	for (int waits = 0; waits < 100; waits++) {
		assert_int_equal(share_of(&w),
				 iw_histogram_cheapest(w.bins.v & IW_HISTOGRAM_MASK, 0, 0));
		record(&w, 1, (unsigned)waits * 7 % IW_BINS);
	}
	assert_true(known(&w));
}

/* So many spins in vain on a new object, and shares of B that they take. */
struct vain {
	unsigned spins;
	uint64_t spun_ns;
};

/* Waits on a new object that are all as long as @bin says, none of which a spin can end. */
static struct vain spun_in_vain(uint64_t before, unsigned bin)
{
	struct ipcwait_window w = { 0 };
	struct vain vain = { 0 };

	for (int waits = 0; waits < 60; waits++) {
		uint64_t ns = iw_of_block(B, known(&w) ? share_of(&w)
						       : iw_window_young_share(&w, before));

		vain.spins += ns > 0;
		vain.spun_ns += ns;
		record(&w, 1, bin);
	}
	return vain;
}

/* Nobody has waited at its call site yet, nor on its kind. */
static void test_two_spins_in_vain_at_most(void **state)
{
	struct vain vain = spun_in_vain(0, IW_BIN_LONG);

	(void)state;
	assert_in_range(vain.spins, 1, 2);
	assert_true(vain.spun_ns < B);
	/* Nor do fewer waits there than would say anything change that. */
	vain = spun_in_vain(history(3, 0), IW_BIN_LONG);
	assert_in_range(vain.spins, 1, 2);
	assert_true(vain.spun_ns < B);
	/* Where waits are known to be long, not one. */
	vain = spun_in_vain(history(20, IW_BIN_LONG), IW_BIN_LONG);
	assert_int_equal(vain.spins, 0);
}

/* The fixed threshold with the best guarantee, as long as nothing speaks against it. */
static void test_prior_while_little_is_known(void **state)
{
	(void)state;
	for (unsigned bin = 0; bin < 4; bin++) {
		struct ipcwait_window w = { 0 };

		for (int waits = 0; waits < 4; waits++) {
			assert_true(threshold(&w) >= PRIOR);
			record(&w, 1, bin);
		}
		assert_int_equal(threshold(&w), 64);
	}
}

static void test_second_spin_is_the_shorter(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	assert_int_equal(threshold(&w), PRIOR);
	record(&w, 1, IW_BIN_LONG);
	assert_int_equal(threshold(&w), SECOND);
	record(&w, 1, IW_BIN_LONG);
	assert_int_equal(threshold(&w), 0);
	/* One that was short after one that was long is worth a spin. */
	w = (struct ipcwait_window){ 0 };
	record(&w, 1, IW_BIN_LONG);
	record(&w, 1, 1);
	assert_true(threshold(&w) > 0);
}

/* What waits there were before, at its site or of its kind, is where an object begins. */
static void test_history_decides(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	assert_int_equal(iw_window_young_share(&w, history(4, IW_BIN_LONG)), 0);
	assert_int_equal(iw_window_young_share(&w, history(4, 1)), 64);
	assert_int_equal(iw_window_young_share(&w, history(20, 5)), 74);
	/* Of few it is asked no more than of its own: how often a spin was in vain. */
	assert_int_equal(iw_window_young_share(&w, history(1, IW_BIN_LONG)), SECOND);
	assert_int_equal(iw_window_young_share(&w, history(3, IW_BIN_LONG)), 0);
	assert_int_equal(iw_window_young_share(&w, history(3, 1)), PRIOR);
}

/* Each own wait counts for eight of those, and eight of them for all. */
static void test_own_waits_take_over(void **state)
{
	const uint64_t longs = history(20, IW_BIN_LONG);
	struct ipcwait_window w = { 0 };
	unsigned waits = 0;

	(void)state;
	while (!known(&w) && !iw_window_young_share(&w, longs)) {
		record(&w, 1, 0);
		waits++;
	}
	assert_int_equal(waits, 1);
	/* The other way round, where it takes more to be worth no spin at all. */
	w = (struct ipcwait_window){ 0 };
	for (waits = 0; threshold(&w) && waits < KNOWN; waits++)
		record(&w, 1, IW_BIN_LONG);
	assert_in_range(waits, 1, 2);
	w = (struct ipcwait_window){ 0 };
	record(&w, KNOWN, IW_BIN_LONG);
	assert_true(known(&w));
	assert_int_equal(share_of(&w), 0);
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

/* Whatever is in memory, and whatever the site says: policy.h, no spin beyond 2B. */
static void test_any_bytes_stay_below_2b(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct ipcwait_window w = random_window(&seed);
		uint64_t block = random_block_ns(&seed);
		uint64_t before = random_window(&seed).bins.v & IW_HISTOGRAM_MASK;
		unsigned shares[2] = { share_of(&w), iw_window_young_share(&w, before) };

		for (int k = 0; k < 2; k++) {
			assert_true(shares[k] <= IW_LONGEST_SHARE);
			assert_true(iw_of_block(block, shares[k]) < 2 * block);
		}
	}
}

static void test_any_bytes_can_be_recorded_in(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct ipcwait_window before = random_window(&seed), after = before;
		unsigned bin = (unsigned)check_random(&seed) % IW_BINS;

		iw_window_record(&after, bin, 1 + (unsigned)check_random(&seed) % 8,
				 check_random(&seed) >> (check_random(&seed) % 64));
		assert_int_equal(after.stamp.v, before.stamp.v);
		/* The preset, and the CPU of the last waker. */
		assert_int_equal(after.state.v & 0xffff0007, before.state.v & 0xffff0007);
		/* Where nobody spins a long wait changes nothing. */
		if (bin == IW_BIN_LONG && iw_state_known(before.state.v) &&
		    !share_of(&before))
			assert_int_equal(share_of(&after), 0);
		else
			assert_int_equal(share_of(&after),
					 iw_histogram_cheapest(
						 after.bins.v & IW_HISTOGRAM_MASK, 0, 0));
	}
}

static void test_own_delay_lengthens_a_spin_that_pays(void **state)
{
	(void)state;
	assert_int_equal(iw_window_spin_ns(10, B, 5000), iw_of_block(B, 10) + 5000);
	assert_int_equal(iw_window_spin_ns(10, B, 10 * B), iw_of_block(B, 112));
	assert_int_equal(iw_window_spin_ns(10, B, UINT64_MAX), iw_of_block(B, 112));
	assert_int_equal(iw_window_spin_ns(0, B, 5000), 0);
}

static void test_changes_its_mind(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	record(&w, 300, IW_BIN_LONG);
	assert_int_equal(share_of(&w), 0);
	record(&w, 60, 0);
	assert_true(share_of(&w) > 0);
	record(&w, 130, IW_BIN_LONG);
	assert_int_equal(share_of(&w), 0);
}

static void test_learned_stops_at_63(void **state)
{
	struct ipcwait_window w = { { 0 }, { 0 }, { CPU(7) | IPCWAIT_POWER } };

	(void)state;
	record(&w, 1000, 0);
	assert_int_equal(w.state.v, CPU(7) | SHARE(64) | LEARNED(63) | IPCWAIT_POWER);
}

/* A state that no thread of ours has written: the longest threshold at most. */
static void test_share_from_anywhere(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 128; n++)
		assert_int_equal(iw_state_share(SHARE(n)), n < 112 ? n : 112);
}

static void test_limit_of_haltpoll(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	assert_int_equal(iw_window_limit_ns(&w), 0);
	iw_window_set_limit_ns(&w, 50000);
	assert_int_equal(iw_window_limit_ns(&w), 50000);
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

/* As old as the sleep: put when it began. */
static void test_stamp_as_old(void **state)
{
	struct ipcwait_window w = { 0 };
	uint64_t age;

	(void)state;
	iw_window_put_stamp(&w, 1600000, 0);
	assert_true(iw_window_stamp_age(&w, 1600000 + 16000, 16000, &age));
	assert_int_equal(age, 16000);
	assert_false(iw_window_stamp_age(&w, 1600000 + 16000, 15999, &age));
}

static uint32_t waker_cpu(const struct ipcwait_window *w)
{
	return iw_state_waker_cpu(iw_window_state(w));
}

static void test_waker_cpu(void **state)
{
	const uint32_t rest = SHARE(37) | LEARNED(33) | IPCWAIT_SPIN;
	struct ipcwait_window w = { { 0 }, { 0 }, { rest } };

	(void)state;
	assert_int_equal(waker_cpu(&w), 0);
	iw_window_put_stamp(&w, 1000, 0);
	assert_int_equal(waker_cpu(&w), 1);
	iw_window_put_stamp(&w, 1000, 8191);
	assert_int_equal(waker_cpu(&w), 8192);
	iw_window_put_stamp(&w, 1000, 65534);
	assert_int_equal(waker_cpu(&w), 65535);
	iw_window_put_stamp(&w, 1000, 65535);
	assert_int_equal(waker_cpu(&w), 0);
	iw_window_put_stamp(&w, 1000, UINT32_MAX);
	assert_int_equal(waker_cpu(&w), 0);
	assert_int_equal(w.state.v, rest);
}

static void test_preset(void **state)
{
	struct ipcwait_window w = { 0 };
	uint32_t rest;

	(void)state;
	record(&w, 12, 3);
	iw_window_put_stamp(&w, 1000, 4);
	rest = w.state.v;
	assert_int_equal(rest, CPU(5) | SHARE(64) | LEARNED(12));
	for (unsigned p = IPCWAIT_INHERIT; p <= IPCWAIT_TICKS; p++) {
		assert_int_equal(ipcwait_window_set_preset(&w, (enum ipcwait_preset)p), 0);
		assert_int_equal(iw_state_preset(w.state.v), p);
		assert_int_equal(iw_window_count(&w, 3), 12);
		assert_int_equal(w.state.v, rest | p);
	}
	record(&w, 1, 0);
	assert_int_equal(iw_state_preset(w.state.v), IPCWAIT_TICKS);
	assert_int_equal(ipcwait_window_set_preset(&w, IPCWAIT_POWER), 0);
	assert_int_equal(iw_state_preset(w.state.v), IPCWAIT_POWER);
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
	assert_int_equal(ipcwait_window_set_preset(two, (enum ipcwait_preset)8), -EINVAL);
	assert_int_equal(ipcwait_window_set_preset(two, (enum ipcwait_preset) - 1),
			 -EINVAL);
	assert_int_equal(ipcwait_window_set_preset(two, (enum ipcwait_preset)256), -EINVAL);
	assert_memory_equal(&two[0], &before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_from_eight_waits_on),
		cmocka_unit_test(test_two_spins_in_vain_at_most),
		cmocka_unit_test(test_prior_while_little_is_known),
		cmocka_unit_test(test_second_spin_is_the_shorter),
		cmocka_unit_test(test_history_decides),
		cmocka_unit_test(test_own_waits_take_over),
		cmocka_unit_test(test_any_bytes_stay_below_2b),
		cmocka_unit_test(test_any_bytes_can_be_recorded_in),
		cmocka_unit_test(test_own_delay_lengthens_a_spin_that_pays),
		cmocka_unit_test(test_changes_its_mind),
		cmocka_unit_test(test_learned_stops_at_63),
		cmocka_unit_test(test_share_from_anywhere),
		cmocka_unit_test(test_limit_of_haltpoll),
		cmocka_unit_test(test_stamp_age),
		cmocka_unit_test(test_stamp_wraps),
		cmocka_unit_test(test_stamp_as_old),
		cmocka_unit_test(test_waker_cpu),
		cmocka_unit_test(test_preset),
		cmocka_unit_test(test_preset_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
