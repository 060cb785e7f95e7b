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
	return w->bins.v & IW_HISTOGRAM_MASK;
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

/* Both spins and the timer together. */
static void test_any_bytes_stay_below_2b_with_a_timer(void **state)
{
	uint64_t seed = check_seed();
	unsigned timed = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct ipcwait_window w = random_window(&seed);
		uint64_t block = random_block_ns(&seed);
		struct iw_timer_cost timer = random_timer(&seed, block);
		uint64_t spin_ns = iw_of_block(block, iw_state_share(w.state.v));
		struct iw_timed_plan plan;

		if (i % 4 >= 2)
			spin_ns = 0;
		if (!iw_window_timed(&w, spin_ns, block, &timer, &plan))
			continue;
		timed++;
		assert_true(spin_ns + spin_ns / 8 + timer.cpu_ns + plan.spin_ns <=
			    2 * block);
		assert_true(plan.sleep.span_ns <= plan.spin_ns);
		assert_true(plan.sleep.wake_ns > 2 * spin_ns);
		assert_true(iw_window_count(&w, IW_BIN_LONG) > 0);
	}
	assert_true(timed > 1000);
}

static const struct iw_timer_cost guest_timer = { 98000, 8000, 3200, B - B / 4 };

/* A window after some waits of 1 ms, each followed by @shorts of B/10. */
static struct ipcwait_window ticking(unsigned shorts)
{
	struct ipcwait_window w = { 0 };

	for (unsigned i = 0; i < 40; i++) {
		iw_window_record(&w, IW_BIN_LONG, 1, 1000000 + i % 3 * 1000);
		for (unsigned k = 0; k < shorts; k++)
			iw_window_record(&w, iw_bin_of(B / 10, B), 1, 0);
	}
	return w;
}

static void test_regular_waits_are_timed(void **state)
{
	struct ipcwait_window w = ticking(0);
	struct iw_timer_cost timer = guest_timer;
	struct iw_timed_sleep sleep;
	struct iw_timed_plan plan;

	(void)state;
	assert_true(iw_window_timed(&w, 0, B, &guest_timer, &plan));
	assert_int_equal(plan.spin_ns, SHARES(112) - 3200);
	/* As rhythm.h plans it. */
	assert_true(iw_rhythm_plan((uint32_t)(w.bins.v >> 40), B, &guest_timer, &sleep));
	assert_memory_equal(&plan.sleep, &sleep, sizeof(sleep));
	/* Not if it is worth no more than it costs. */
	timer.worth_ns = sleep.cost_ns;
	assert_false(iw_window_timed(&w, 0, B, &timer, &plan));
	/* Not without a long wait in memory. */
	w.bins.v = (w.bins.v & ~counts_of(&w)) | 20;
	assert_false(iw_window_timed(&w, 0, B, &guest_timer, &plan));
}

/* What a first spin has taken is no longer there for the second. */
static void test_the_first_spin_comes_off_the_second(void **state)
{
	struct ipcwait_window w = ticking(2);
	struct iw_timed_plan plan;

	(void)state;
	assert_int_equal(iw_state_share(w.state.v), 10);
	assert_true(iw_window_timed(&w, SHARES(10), B, &guest_timer, &plan));
	assert_int_equal(plan.spin_ns, SHARES(112) - SHARES(10) - 3200);
	/* Too little is left for the deviation: no timer. */
	assert_false(iw_window_timed(&w, SHARES(112), B, &guest_timer, &plan));
}

/* The histogram and the rhythm are in one word, and leave each other alone. */
/* What the plan wants to spin is what is left, to the ns. */
static void test_as_long_as_it_may_spin(void **state)
{
	struct ipcwait_window w = ticking(0);
	struct iw_timed_plan plan;
	uint64_t spun_ns;

	(void)state;
	assert_true(iw_window_timed(&w, 0, B, &guest_timer, &plan));
	spun_ns = plan.spin_ns - plan.sleep.span_ns;
	assert_true(iw_window_timed(&w, spun_ns, B, &guest_timer, &plan));
	assert_int_equal(plan.spin_ns, plan.sleep.span_ns);
	assert_false(iw_window_timed(&w, spun_ns + 1, B, &guest_timer, &plan));
}

static void test_rhythm_and_histogram_do_not_touch(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct ipcwait_window w = random_window(&seed), plain = w;
		uint64_t ns = 1 + (check_random(&seed) >> (34 + check_random(&seed) % 30));
		unsigned bin = iw_bin_of(ns, B), n = 1 + (unsigned)check_random(&seed) % 8;
		uint32_t rhythm = (uint32_t)(w.bins.v >> 40);

		plain.bins.v = counts_of(&plain);
		iw_window_record(&w, bin, n, ns);
		iw_window_record(&plain, bin, n, 0);
		assert_int_equal(counts_of(&w), counts_of(&plain));
		assert_int_equal(plain.bins.v >> 40, 0);
		/* Waits below 7/4 B do not count for the rhythm; halving does not move it. */
		if (ns < SHARES(112))
			assert_int_equal(w.bins.v >> 40, rhythm);
		else
			assert_int_equal(w.bins.v >> 40, iw_rhythm_learn(rhythm, ns));
	}
}

/* Given up beyond 2B, or with nobody to ask for a rhythm: as long as any, but not regular. */
static void test_long_without_an_interval(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	for (int i = 0; i < 31; i++)
		iw_window_record(&w, IW_BIN_LONG, 1, 0);
	assert_int_equal(w.bins.v, UINT64_C(31) << 35);
	w.bins.v |= UINT64_C(0xabcdef) << 40;
	iw_window_record(&w, IW_BIN_LONG, 1, 0);
	assert_int_equal(w.bins.v, UINT64_C(0xabcdef) << 40 | UINT64_C(16) << 35);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_bytes_stay_below_2b_with_a_timer),
		cmocka_unit_test(test_regular_waits_are_timed),
		cmocka_unit_test(test_the_first_spin_comes_off_the_second),
		cmocka_unit_test(test_as_long_as_it_may_spin),
		cmocka_unit_test(test_rhythm_and_histogram_do_not_touch),
		cmocka_unit_test(test_long_without_an_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
