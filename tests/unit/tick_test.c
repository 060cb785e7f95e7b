/* SPDX-License-Identifier: MIT */
/* lib/env/tick.c: the counter's rate, measured against the clock. */
#include <time.h>

#include "common/cmocka_all.h"
#include "env/tick.h"

static void assert_near(uint64_t is, uint64_t want, uint64_t percent)
{
	assert_in_range(is, want - want * percent / 100, want + want * percent / 100);
}

static void test_round_trip(void **state)
{
	struct iw_tick_rate rate = iw_tick_measure();

	(void)state;
	assert_int_equal(iw_tick_to_ns(&rate, 0), 0);
	assert_int_equal(iw_tick_from_ns(&rate, 0), 0);
	for (uint64_t ns = 1000; ns < UINT64_C(1) << 62; ns = ns * 3 / 2 + 1)
		assert_near(iw_tick_to_ns(&rate, iw_tick_from_ns(&rate, ns)), ns, 1);
}

/* In no unit is a time so long that it looks short in the other. */
static void test_too_much_is_most(void **state)
{
	static const uint64_t rates_q32[] = { 1, UINT64_C(1) << 30, UINT64_C(3) << 31,
					      UINT64_C(3) << 32, UINT64_C(40) << 32 };

	(void)state;
	for (unsigned i = 0; i < sizeof(rates_q32) / sizeof(rates_q32[0]); i++) {
		struct iw_tick_rate rate = { true, rates_q32[i], rates_q32[i] };
		uint64_t last = 0;

		for (uint64_t n = 1; n < UINT64_MAX / 3 * 2; n += n / 2 + 1) {
			uint64_t ns = iw_tick_to_ns(&rate, n);

			assert_int_equal(iw_tick_from_ns(&rate, n), ns);
			assert_true(ns >= last);
			last = ns;
		}
	}
}

static void test_monotone(void **state)
{
	struct iw_tick_rate rate = iw_tick_measure();
	uint64_t last_ticks = 0, last_ns = 0;

	(void)state;
	for (uint64_t ns = 0; ns < 100000; ns++) {
		uint64_t ticks = iw_tick_from_ns(&rate, ns);
		uint64_t back = iw_tick_to_ns(&rate, ticks);

		assert_true(ticks >= last_ticks);
		assert_true(back >= last_ns);
		last_ticks = ticks;
		last_ns = back;
	}
}

static void test_time_does_not_run_backwards(void **state)
{
	struct iw_tick_rate rate = iw_tick_measure();
	uint64_t last = iw_tick_now(&rate);

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t now = iw_tick_now(&rate);

		assert_true(now >= last);
		last = now;
	}
}

/* Bracketed by readings of the clock, so that a preemption widens the bounds with it. */
static void test_agrees_with_the_clock(void **state)
{
	struct iw_tick_rate rate = iw_tick_measure();
	int64_t outer_begin = iw_clock_ns();
	uint64_t begin = iw_tick_now(&rate);
	int64_t inner_begin = iw_clock_ns();
	int64_t inner_end, outer_end;
	uint64_t ns;

	(void)state;
	do
		inner_end = iw_clock_ns();
	while (inner_end - inner_begin < 20000000);
	ns = iw_tick_to_ns(&rate, iw_tick_now(&rate) - begin);
	outer_end = iw_clock_ns();
	assert_true(ns >= (uint64_t)(inner_end - inner_begin) * 98 / 100);
	assert_true(ns <= (uint64_t)(outer_end - outer_begin) * 102 / 100);
}

static void test_clocks(void **state)
{
	struct timespec now;
	int64_t before = iw_clock_ns(), raw = iw_clock_raw_ns(), boot = iw_clock_boot_ns();
	int64_t between;

	(void)state;
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	between = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	assert_true(before >= 0);
	assert_true(between >= before);
	assert_true(iw_clock_ns() >= between);
	assert_true(iw_clock_raw_ns() >= raw);
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &now), 0);
	between = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	assert_true(between >= boot);
	assert_true(iw_clock_boot_ns() >= between);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_too_much_is_most),
		cmocka_unit_test(test_monotone),
		cmocka_unit_test(test_time_does_not_run_backwards),
		cmocka_unit_test(test_agrees_with_the_clock),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
