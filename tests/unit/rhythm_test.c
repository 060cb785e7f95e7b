/* SPDX-License-Identifier: MIT */
/* lib/policy/rhythm.c: how regular long waits are. */
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "policy/rhythm.h"

#define US     INT64_C(1000)
#define LENGTH (INT64_C(1) << 20) /* code 7, 0 */

#define LONGEST_DEVIATION (15 << 20)

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

static int64_t length_of(uint32_t rhythm)
{
	return (int64_t)iw_rhythm_length_ns(rhythm);
}

static int64_t deviation_of(uint32_t rhythm)
{
	return (int64_t)iw_rhythm_deviation_ns(rhythm);
}

static int64_t uniform(uint64_t *seed, int64_t low, int64_t high)
{
	return low + (int64_t)(check_random(seed) % (uint64_t)(high - low + 1));
}

static uint32_t learn_around(uint32_t rhythm, int waits, int64_t ns, int64_t spread_ns,
			     uint64_t *seed)
{
	while (waits--)
		rhythm = iw_rhythm_learn(
			rhythm, (uint64_t)uniform(seed, ns - spread_ns, ns + spread_ns));
	return rhythm;
}

/* The first wait is taken as it is, with an eighth as its deviation: each within a step. */
static void test_round_trip(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 200000; i++) {
		unsigned octave = 13 + (unsigned)(check_random(&seed) % 16);
		int64_t least = INT64_C(1) << octave;
		int64_t ns = uniform(&seed, least, 2 * least - 1);
		int64_t deviation = ns / 8 < LONGEST_DEVIATION ? ns / 8 : LONGEST_DEVIATION;
		uint32_t r = iw_rhythm_learn(0, (uint64_t)ns);

		assert_true(llabs(length_of(r) - ns) < least >> 10 ||
			    r % (1u << 14) == (1u << 14) - 1);
		assert_true(llabs(deviation_of(r) - deviation) <= deviation / 8);
		assert_int_equal(trust_of(r), 0);
	}
}

/* Each value that the bits can hold stays what it is while nothing changes it. */
static void test_every_code_is_itself(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 1u << 14; code++) {
		int64_t ns = length_of(code);

		assert_true(code == 0 || ns > length_of(code - 1));
		assert_true(ns >= 8192 && ns < INT64_C(1) << 29);
		/* No deviation to move it by: a wait of that length leaves it, or a step up. */
		assert_in_range(iw_rhythm_learn(of(code, 0, 1), (uint64_t)ns) % (1u << 14),
				code, code + 1);
	}
	for (uint32_t code = 0; code < 1u << 7; code++)
		assert_true(code == 0 || deviation_of(of(0, code, 0)) >
						 deviation_of(of(0, code - 1, 0)));
	assert_int_equal(deviation_of(of(0, 0, 0)), 256);
	assert_int_equal(deviation_of(of(0, 127, 0)), LONGEST_DEVIATION);
}

static void test_carry_goes_to_the_exponent(void **state)
{
	(void)state;
	for (unsigned octave = 14; octave < 29; octave++) {
		int64_t power = INT64_C(1) << octave, step = power >> 11;
		bool up = false, down = false;

		for (int64_t below = 1; below <= step && below < 100; below++) {
			int64_t is =
				length_of(iw_rhythm_learn(0, (uint64_t)(power - below)));

			assert_true(is == power || is == power - step);
			up = up || is == power;
			down = down || is == power - step;
		}
		assert_true(up);
		assert_true(down || octave > 16);
	}
}

static void test_extremes(void **state)
{
	static const uint64_t waits[] = { 0,          1,          8191,       8192,
					  INT64_MAX,  UINT64_MAX, UINT32_MAX, 1ull << 29,
					  1ull << 28, 536870911,  1ull << 63 };
	uint32_t most = iw_rhythm_learn(0, UINT64_MAX);

	(void)state;
	assert_int_equal(most, of((1 << 14) - 1, 127, 0));
	assert_int_equal(length_of(most), (8192 + 1023 * 8) << 15);
	assert_int_equal(iw_rhythm_learn(0, 0), 0);
	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		uint32_t r = of(length_code(7, 3), deviation_code(5, 1), 7);

		for (int k = 0; k < 3000; k++) {
			r = iw_rhythm_learn(r, waits[i]);
			assert_true(r < 1u << IW_RHYTHM_BITS);
		}
		/* However far it was: it has got there. */
		assert_true(waits[i] < 1 << 28 ? length_of(r) < 9000
					       : length_of(r) > INT64_C(500000000) ||
							 waits[i] == 1 << 28);
	}
}

static void test_any_bits_are_safe(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 500000; i++) {
		uint32_t r = (uint32_t)check_random(&seed) >> 8;
		uint64_t ns = check_random(&seed) >> (check_random(&seed) % 64);
		uint32_t after = iw_rhythm_learn(r, ns);

		assert_true(after < 1u << IW_RHYTHM_BITS);
		if (!r)
			continue;
		/* A sixteenth is more than the coarser step, and the carry of the finer. */
		assert_true(deviation_of(after) * 8 <= deviation_of(r) * 8 * 3 / 2 * 9 / 8);
		assert_true(llabs(length_of(after) - length_of(r)) <=
			    deviation_of(r) * 3 / 8 +
				    ((length_of(r) + length_of(after)) >> 10));
		assert_in_range(trust_of(after) + 2, trust_of(r), trust_of(r) + 3);
	}
}

/* What rounding adds and takes is nothing in the mean, although single steps are coarse. */
static void test_rounding_has_no_bias(void **state)
{
	enum { TIMES = 200000 };
	uint64_t seed = check_seed();
	int64_t sum = 0, sum_deviation = 0;

	(void)state;
	for (int i = 0; i < TIMES; i++) {
		int64_t ns = uniform(&seed, 1 << 20, (1 << 21) - 1);
		uint32_t r = iw_rhythm_learn(0, (uint64_t)ns);

		sum += length_of(r) - ns;
		sum_deviation += deviation_of(r) - ns / 8;
	}
	/* The steps are 1024 and 16384; six standard errors. */
	assert_true(llabs(sum) / TIMES <= 6);
	assert_true(llabs(sum_deviation) / TIMES <= 90);
}

/* A gain of 1/8 moves a length of 16.7 ms by less than its step of 8 us: it moves all the same. */
static void test_small_changes_add_up(void **state)
{
	uint64_t seed = check_seed();
	int64_t sum = 0;
	uint32_t r;

	(void)state;
	for (int64_t to = 16680 * US; to <= 16720 * US; to += 40 * US) {
		r = learn_around(0, 400, 16700 * US, 5 * US, &seed);
		r = learn_around(r, 400, to, 5 * US, &seed);
		for (int i = 0; i < 400; i++) {
			r = learn_around(r, 1, to, 5 * US, &seed);
			sum += length_of(r) - to;
		}
	}
	assert_true(llabs(sum) / 800 < 2 * US);
}

static void test_constant(void **state)
{
	(void)state;
	for (int64_t ns = 9 * US; ns < 400000 * US; ns += ns / 3) {
		int64_t step = ns >> 10;
		uint32_t r = 0;

		for (int i = 0; i < 200; i++)
			r = iw_rhythm_learn(r, (uint64_t)ns);
		/* Always the same wait is always rounded alike, so up to 1/gain steps are left. */
		assert_true(llabs(length_of(r) - ns) <= 8 * step + 8);
		assert_true(deviation_of(r) <= 8 * step + 288);
		assert_int_equal(trust_of(r), 7);
	}
}

static void test_uniform(void **state)
{
	uint64_t seed = check_seed();
	int64_t sum = 0, sum_deviation = 0;
	uint32_t r = learn_around(0, 100, 1000 * US, 20 * US, &seed);
	int trusted = 0;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		r = learn_around(r, 1, 1000 * US, 20 * US, &seed);
		assert_true(llabs(length_of(r) - 1000 * US) < 15 * US);
		trusted += trust_of(r) >= 4;
		sum += length_of(r) - 1000 * US;
		sum_deviation += deviation_of(r);
	}
	assert_true(trusted > 3800);
	assert_true(llabs(sum) / 4000 < US);
	/* The mean deviation of a uniform distribution is half of its spread. */
	assert_in_range(sum_deviation / 4000, 9 * US, 12 * US);
}

static void test_drift(void **state)
{
	uint64_t seed = check_seed();
	uint32_t r = learn_around(0, 50, 1000 * US, 2 * US, &seed);
	int trusted = 0;

	(void)state;
	/* By half in each direction within a thousand waits. */
	for (int i = 0; i < 2000; i++) {
		int64_t ns = 1000 * US + (i < 1000 ? i : 2000 - i) * US / 2;

		r = learn_around(r, 1, ns, 2 * US, &seed);
		assert_true(llabs(length_of(r) - ns) < 12 * US);
		assert_true(deviation_of(r) < 12 * US);
		trusted += trust_of(r) >= 4;
	}
	assert_true(trusted > 1900);
}

static void test_outlier(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint32_t r = learn_around(0, 100, 1000 * US, 10 * US, &seed);
		uint32_t after = iw_rhythm_learn(r, i % 2 ? 30000 : UINT64_MAX);

		assert_int_equal(trust_of(after), trust_of(r) < 2 ? 0 : trust_of(r) - 2);
		/* By half, and by a step if rounding will have it. */
		assert_true(deviation_of(after) <= deviation_of(r) * 3 / 2 * 9 / 8);
		assert_true(llabs(length_of(after) - length_of(r)) <=
			    deviation_of(r) * 3 / 8 + 1024);
		after = iw_rhythm_learn(after, (uint64_t)length_of(r));
		after = iw_rhythm_learn(after, (uint64_t)length_of(r));
		assert_in_range(trust_of(after), trust_of(r) < 2 ? 2 : trust_of(r), 7);
	}
}

/* How many waits until the length has gone half the way to the new one, and is trusted again. */
static int waits_until_near(uint32_t r, int64_t to, int64_t spread, uint64_t *seed)
{
	int64_t half = llabs(length_of(r) - to) / 2;
	int waits = 0;

	while (llabs(length_of(r) - to) > half || trust_of(r) < 4) {
		r = learn_around(r, 1, to, spread, seed);
		waits++;
	}
	return waits;
}

static void test_lasting_change(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 200; i++) {
		uint32_t r = learn_around(0, 100, 1000 * US, 20 * US, &seed);

		assert_in_range(waits_until_near(r, 2000 * US, 20 * US, &seed), 8, 18);
		assert_in_range(waits_until_near(r, 500 * US, 20 * US, &seed), 6, 16);
		/* The steadier it was, the longer: the deviation grows by half with each wait. */
		r = learn_around(0, 100, 1000 * US, 0, &seed);
		assert_in_range(waits_until_near(r, 2000 * US, 20 * US, &seed), 12, 28);
	}
}

/* In a steady rhythm, every @period-th wait is something else. */
static uint32_t most_trust(int period)
{
	uint64_t seed = check_seed();
	uint32_t r = 0, most = 0;

	for (int i = 0; i < 300; i++) {
		r = learn_around(r, 1, i % period == period - 1 ? 100000 * US : 1000 * US,
				 US, &seed);
		most = trust_of(r) > most ? trust_of(r) : most;
	}
	return most;
}

static void test_trust(void **state)
{
	uint32_t r = of(length_code(7, 0), deviation_code(5, 0), 0);

	(void)state;
	/* Near is within twice the deviation. */
	assert_int_equal(trust_of(iw_rhythm_learn(r, LENGTH + 2 * 8192)), 1);
	assert_int_equal(trust_of(iw_rhythm_learn(r, LENGTH - 2 * 8192)), 1);
	assert_int_equal(trust_of(iw_rhythm_learn(r, LENGTH + 2 * 8192 + 1)), 0);
	for (uint32_t trust = 0; trust < 8; trust++) {
		r = of(length_code(7, 0), deviation_code(5, 0), trust);
		assert_int_equal(trust_of(iw_rhythm_learn(r, LENGTH)),
				 trust < 7 ? trust + 1 : 7);
		assert_int_equal(trust_of(iw_rhythm_learn(r, 5 * LENGTH)),
				 trust > 2 ? trust - 2 : 0);
	}
	assert_int_equal(most_trust(1000), 7);
	assert_true(most_trust(4) >= 4);
	assert_true(most_trust(3) < 4);
	assert_true(most_trust(2) < 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_every_code_is_itself),
		cmocka_unit_test(test_carry_goes_to_the_exponent),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_any_bits_are_safe),
		cmocka_unit_test(test_rounding_has_no_bias),
		cmocka_unit_test(test_small_changes_add_up),
		cmocka_unit_test(test_constant),
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_lasting_change),
		cmocka_unit_test(test_trust),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
