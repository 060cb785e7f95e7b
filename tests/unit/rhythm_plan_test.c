/* SPDX-License-Identifier: MIT */
/* lib/policy/rhythm.c: whether a timed sleep pays, and from when until when to spin then. */
#include "common/cmocka_all.h"
#include "policy/rhythm.h"

#define B      30000
#define LENGTH (INT64_C(1) << 20) /* code 7, 0 */

static const struct iw_timer_cost guest_timer = {
	.late_ns = 98000,
	.spread_ns = 8000,
	.cpu_ns = 3200,
	.worth_ns = B - B / 4,
};

static uint32_t of(uint32_t length_code, uint32_t deviation_code, uint32_t trust)
{
	return length_code | deviation_code << 14 | trust << 21;
}

/* 2^(13 + exponent) ns and so many 1024ths of it more. */
static uint32_t length_code(uint32_t exponent, uint32_t mantissa)
{
	return exponent << 10 | mantissa;
}

/* 2^(8 + exponent) ns and so many eighths of it more. */
static uint32_t deviation_code(uint32_t exponent, uint32_t mantissa)
{
	return exponent << 3 | mantissa;
}

static uint32_t trust_of(uint32_t rhythm)
{
	return rhythm >> 21;
}

/*
 * Worked out by hand, cost in ns: (early x B + in time x (timer + before) + late x (timer +
 * before + after + B)) / 64, with timer = 11200.
 */
static void test_plan(void **state)
{
	static const struct {
		uint32_t deviation;
		struct iw_timed_sleep want;
	} rows[] = {
		/* 4 deviations of 256 each way: (1 x B + 62 x 12224 + 1 x 43248) / 64. */
		{ 0, { LENGTH - 99024, LENGTH + 1024, 10048, 12986 } },
		/* 1 of 4096 before, 4 after: (12 x B + 51 x 15296 + 1 x 61680) / 64. */
		{ 4 << 3, { LENGTH - 102096, LENGTH + 16384, 28480, 18777 } },
		/* The same with 8192: (12 x B + 51 x 19392 + 1 x 82160) / 64 < 3/4 B. */
		{ 5 << 3, { LENGTH - 106192, LENGTH + 32768, 48960, 22361 } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct iw_timed_sleep *want = &rows[i].want;
		uint32_t r = of(length_code(7, 0), rows[i].deviation, 4);
		struct iw_timer_cost timer = guest_timer;
		struct iw_timed_sleep is;

		assert_true(iw_rhythm_plan(r, B, &guest_timer, &is));
		assert_int_equal(is.wake_ns, want->wake_ns);
		assert_int_equal(is.until_ns, want->until_ns);
		assert_int_equal(is.span_ns, want->span_ns);
		assert_int_equal(is.cost_ns, want->cost_ns);
		/* Worth no more than it costs. */
		timer.worth_ns = want->cost_ns + 1;
		assert_true(iw_rhythm_plan(r, B, &timer, &is));
		timer.worth_ns = want->cost_ns;
		assert_false(iw_rhythm_plan(r, B, &timer, &is));
		/* Not trusted yet. */
		assert_false(iw_rhythm_plan(r - (1u << 21), B, &guest_timer, &is));
		assert_int_equal(is.cost_ns, B);
	}
}

static bool planned(uint32_t rhythm, uint64_t block_ns, const struct iw_timer_cost *timer)
{
	struct iw_timed_sleep plan;

	return iw_rhythm_plan(rhythm, block_ns, timer, &plan);
}

static void test_plan_refused(void **state)
{
	static const struct iw_timer_cost dear = { 98000, 8000, 20000, B - B / 4 };
	static const struct iw_timer_cost free_timer = { .worth_ns = 32767 };
	struct iw_timed_sleep plan;

	(void)state;
	/* A deviation of 9216 costs 23257. */
	assert_false(
		planned(of(length_code(7, 0), deviation_code(5, 1), 7), B, &guest_timer));
	/* The timer alone costs more than that. */
	assert_false(planned(of(length_code(7, 0), 0, 7), B, &dear));
	/* Not even a free timer helps a deviation beyond B. */
	assert_false(planned(of(length_code(15, 0), deviation_code(7, 0), 7), 32767,
			     &free_timer));
	/* The timer is later than the wait is long; 98304 leaves room for one deviation. */
	assert_false(planned(of(length_code(3, 511), 0, 7), B, &guest_timer));
	assert_true(iw_rhythm_plan(of(length_code(3, 512), 0, 7), B, &guest_timer, &plan));
	assert_int_equal(plan.wake_ns, 98304 - 256 - 98000);
	assert_false(planned(0, B, &guest_timer));
	assert_false(planned(of(0, 0, 7), B, &guest_timer));
}

static struct iw_timer_cost random_timer(uint64_t *seed, uint64_t block_ns)
{
	return (struct iw_timer_cost){
		.late_ns = check_random(seed) >> (32 + check_random(seed) % 32),
		.spread_ns = check_random(seed) >> (32 + check_random(seed) % 32),
		.cpu_ns = check_random(seed) >> (32 + check_random(seed) % 32),
		.worth_ns = block_ns * (check_random(seed) % 65) / 64,
	};
}

/* Whatever the bits are, whatever timers and sleeps cost. */
static void test_any_plan_holds_its_bounds(void **state)
{
	uint64_t seed = check_seed();
	unsigned plans = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		uint32_t r = (uint32_t)check_random(&seed) >> 8;
		uint64_t block =
			(check_random(&seed) >> (34 + check_random(&seed) % 30)) + 1;
		struct iw_timer_cost timer = random_timer(&seed, block);
		struct iw_timed_sleep p;
		bool timed = iw_rhythm_plan(r, block, &timer, &p);

		assert_true(p.cost_ns <= block);
		assert_int_equal(timed, p.cost_ns < timer.worth_ns);
		if (!timed)
			continue;
		plans++;
		assert_true(trust_of(r) >= 4);
		assert_true(p.wake_ns > 0);
		assert_true(p.wake_ns + timer.late_ns < iw_rhythm_length_ns(r));
		assert_true(p.until_ns > iw_rhythm_length_ns(r));
		assert_int_equal(p.until_ns - p.wake_ns,
				 p.span_ns - timer.spread_ns + timer.late_ns);
		assert_true(p.span_ns - timer.spread_ns <= 8 * iw_rhythm_deviation_ns(r));
	}
	assert_true(plans > 3000);
}

/* The dearer a sleep until a wake is, the more a timed one pays, and never less. */
static void test_plan_is_monotone_in_b(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint32_t r = (uint32_t)check_random(&seed) >> 8 | 7u << 21;
		struct iw_timed_sleep p;
		uint64_t cost = 0;
		bool timed = false;
		struct iw_timer_cost timer = guest_timer;

		for (uint64_t block = 300; block < 1000000000; block += block / 4) {
			bool now;

			timer.worth_ns = block - block / 4;
			now = iw_rhythm_plan(r, block, &timer, &p);
			assert_true(now || !timed);
			assert_true(p.cost_ns >= cost);
			timed = now;
			cost = p.cost_ns;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_plan_refused),
		cmocka_unit_test(test_any_plan_holds_its_bounds),
		cmocka_unit_test(test_plan_is_monotone_in_b),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
