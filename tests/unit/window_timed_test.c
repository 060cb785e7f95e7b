/* SPDX-License-Identifier: MIT */
/* lib/policy/window.c: plans with a timed sleep, and the rhythm beside the histogram. */
#include <string.h>

#include "common/cmocka_all.h"
#include "policy/window.h"

#define B 30000

/* A threshold of the rule: a number of 64ths of B. */
#define SHARES(n) (B * (n) / 64)

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

/* All kinds of timers, from free ones to ones that cost more than B. */
static struct iw_timer_cost random_timer(uint64_t *seed, uint64_t block_ns)
{
	return (struct iw_timer_cost){
		.late_ns = check_random(seed) >> (44 + check_random(seed) % 20),
		.spread_ns = check_random(seed) >> (44 + check_random(seed) % 20),
		.cpu_ns = check_random(seed) >> (44 + check_random(seed) % 20),
		.worth_ns = block_ns * (check_random(seed) % 65) / 64,
	};
}

/* Both spins and the timer together, and the first one lengthened by its jitter. */
static void test_any_bytes_stay_below_2b_with_a_timer(void **state)
{
	uint64_t seed = check_seed();
	unsigned timed = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct ipcwait_window w = random_window(&seed);
		uint64_t block = random_block_ns(&seed);
		struct iw_timer_cost timer = random_timer(&seed, block);
		struct iw_plan plan;

		iw_window_plan(&w, block, i % 2 ? 0 : random_block_ns(&seed), &timer,
			       &plan);
		assert_true(plan.spin_ns + plan.spin_ns / 8 <= 2 * block);
		if (!plan.timed)
			continue;
		timed++;
		assert_true(plan.spin_ns + plan.spin_ns / 8 + timer.cpu_ns +
				    plan.spin_again_ns <=
			    2 * block);
		assert_true(plan.sleep.span_ns <= plan.spin_again_ns);
		assert_true(plan.sleep.wake_ns > 2 * plan.spin_ns);
		assert_true(count_in(&w, 7) > 0);
	}
	assert_true(timed > 1000);
}

static const struct iw_timer_cost guest_timer = { 98000, 8000, 3200, B - B / 4 };

/* A window after some waits of 1 ms, each followed by @shorts of B/10. */
static struct ipcwait_window ticking(unsigned shorts)
{
	struct ipcwait_window w = { 0 };

	for (unsigned i = 0; i < 40; i++) {
		iw_window_record(&w, 1000000 + i % 3 * 1000, 0, B);
		for (unsigned k = 0; k < shorts; k++)
			iw_window_record(&w, B / 10, 0, B);
	}
	return w;
}

static void test_regular_waits_are_timed(void **state)
{
	struct ipcwait_window w = ticking(0);
	struct iw_timer_cost timer = guest_timer;
	struct iw_timed_sleep sleep;
	struct iw_plan plan;

	(void)state;
	iw_window_plan(&w, B, 0, &guest_timer, &plan);
	assert_true(plan.timed);
	assert_int_equal(plan.spin_ns, 0);
	assert_int_equal(plan.spin_again_ns, SHARES(112) - 3200);
	/* As rhythm.h plans it. */
	assert_true(iw_rhythm_plan((uint32_t)(w.bins.v >> 40), B, &guest_timer, &sleep));
	assert_memory_equal(&plan.sleep, &sleep, sizeof(sleep));
	/* Not if it is worth no more than it costs. */
	timer.worth_ns = sleep.cost_ns;
	iw_window_plan(&w, B, 0, &timer, &plan);
	assert_false(plan.timed);
	/* Not where the primitive cannot, nor without a long wait in memory. */
	assert_int_equal(spin_of(&w, B, 0), 0);
	w.bins.v = (w.bins.v & ~counts_of(&w)) | 20;
	iw_window_plan(&w, B, 0, &guest_timer, &plan);
	assert_false(plan.timed);
	assert_int_equal(plan.spin_ns, B);
}

/* What a first spin takes is no longer there for the second. */
static void test_the_first_spin_comes_off_the_second(void **state)
{
	struct ipcwait_window w = ticking(2);
	struct iw_plan plan;

	(void)state;
	iw_window_plan(&w, B, 0, &guest_timer, &plan);
	assert_true(plan.timed);
	assert_int_equal(plan.spin_ns, SHARES(10));
	assert_int_equal(plan.spin_again_ns, SHARES(112) - SHARES(10) - 3200);
	/* Too little is left for the deviation: no timer. */
	iw_window_plan(&w, B, 10 * B, &guest_timer, &plan);
	assert_int_equal(plan.spin_ns, SHARES(112));
	assert_false(plan.timed);
}

/* Those of the last bin sleep whatever the first spin is: it is chosen as without a timer. */
static void test_the_first_spin_is_chosen_as_ever(void **state)
{
	/* 1 ms, the least deviation, trusted. */
	const uint64_t rhythm = (UINT64_C(7) << 21 | 7 << 10) << 40;
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		struct ipcwait_window w = random_window(&seed);
		struct iw_plan plan;

		w.bins.v = counts_of(&w) | rhythm;
		iw_window_plan(&w, B, 0, &guest_timer, &plan);
		assert_int_equal(plan.spin_ns, spin_of(&w, B, 0));
	}
}

/* The histogram and the rhythm are in one word, and leave each other alone. */
static void test_rhythm_and_histogram_do_not_touch(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct ipcwait_window w = random_window(&seed), plain = w;
		uint64_t ns = check_random(&seed) >> (34 + check_random(&seed) % 30);
		uint32_t rhythm = (uint32_t)(w.bins.v >> 40);

		plain.bins.v = counts_of(&plain);
		iw_window_record(&w, ns, 500, B);
		iw_window_record(&plain, ns, 500, B);
		assert_int_equal(counts_of(&w), counts_of(&plain));
		/* Waits below 7/4 B do not count for the rhythm; halving does not move it. */
		if (ns < SHARES(112))
			assert_int_equal(w.bins.v >> 40, rhythm);
		else
			assert_int_equal(w.bins.v >> 40, iw_rhythm_learn(rhythm, ns + 500));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_bytes_stay_below_2b_with_a_timer),
		cmocka_unit_test(test_regular_waits_are_timed),
		cmocka_unit_test(test_the_first_spin_comes_off_the_second),
		cmocka_unit_test(test_the_first_spin_is_chosen_as_ever),
		cmocka_unit_test(test_rhythm_and_histogram_do_not_touch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
