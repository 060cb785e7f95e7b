/* SPDX-License-Identifier: MIT */
/* lib/policy/pace.c: what a mutex has learned about its sections. */
#include "common/cmocka_all.h"
#include "policy/pace.h"

#define LEARNED 0xfffu /* both shares at their most */
#define COUNTS  0xf000u

static uint32_t measured(uint32_t pace, uint64_t began_at, uint64_t ns)
{
	return iw_pace_ended(iw_pace_began(pace, began_at), began_at + ns);
}

static uint32_t learn_sections(uint32_t pace, unsigned n, uint64_t ns)
{
	while (n--)
		pace = measured(pace, UINT64_C(123456789) * (n + 1), ns);
	return pace;
}

static uint32_t learn_sleeps(uint32_t pace, unsigned n, bool busy)
{
	while (n--)
		pace = iw_pace_slept(pace, busy);
	return pace;
}

static void test_nothing_learned(void **state)
{
	(void)state;
	assert_int_equal(iw_pace_apart_ns(0), 0);
	assert_false(iw_pace_busy(0));
	assert_false(iw_pace_full(0));
}

static void test_one_in_sixteen_is_measured(void **state)
{
	uint32_t pace = LEARNED | 0xabcd0000;
	unsigned measures = 0;

	(void)state;
	for (unsigned i = 0; i < 160; i++) {
		measures += iw_pace_due(pace);
		pace = iw_pace_waited(pace);
	}
	assert_int_equal(measures, 10);
	assert_int_equal(pace, LEARNED | 0xabcd0000);
}

/* Looks are rare where sections are short, after a few, and as long as most of them are. */
static void test_short_sections(void **state)
{
	uint32_t pace = learn_sections(0, 3, 100);

	(void)state;
	assert_int_equal(iw_pace_apart_ns(pace), 0);
	pace = learn_sections(pace, 5, 100);
	assert_in_range(iw_pace_apart_ns(pace), 250, 1000);
	pace = learn_sections(pace, 30, 100);
	/* An interrupt in one of them means nothing. */
	pace = learn_sections(pace, 1, 20000);
	assert_true(iw_pace_apart_ns(pace) > 0);
	/* One that nobody has beside the sleepers is not full. */
	assert_false(iw_pace_full(pace));
	pace = learn_sections(pace, 8, 1000);
	assert_int_equal(iw_pace_apart_ns(pace), 0);
	pace = learn_sections(pace, 50, 10000);
	assert_int_equal(pace & LEARNED, 0);
}

/* Of half a millisecond at most, also across the end of the clock's sixteen bits. */
static void test_lengths(void **state)
{
	static const uint64_t long_ns[] = { 408, 600, 1000, 60000, 400000 };

	(void)state;
	for (uint64_t at = 0; at < UINT64_C(1) << 20; at += 4099) {
		assert_true(measured(0, at, 8) & LEARNED);
		assert_true(measured(0, at, 400) & LEARNED);
		for (unsigned i = 0; i < sizeof(long_ns) / sizeof(long_ns[0]); i++)
			assert_false(measured(0, at, long_ns[i]) & LEARNED);
	}
	/* Nothing is left of the time. */
	assert_int_equal(measured(COUNTS, 0xffff << 3, 100) >> 16, 0);
}

static void test_busy(void **state)
{
	uint32_t pace = learn_sleeps(0, 3, true);

	(void)state;
	assert_false(iw_pace_busy(pace));
	assert_false(iw_pace_busy(31u << 6));
	assert_true(iw_pace_busy(32u << 6));
	pace = learn_sleeps(pace, 5, true);
	assert_true(iw_pace_busy(pace));
	assert_false(iw_pace_full(pace));
	assert_true(iw_pace_full(learn_sections(pace, 10, 50)));
	assert_false(iw_pace_busy(learn_sleeps(pace, 8, false)));
	assert_int_equal(learn_sleeps(LEARNED, 50, false), 63);
}

/* Each is learned by itself, whatever the other bits are. */
static void test_apart(void **state)
{
	(void)state;
	for (uint32_t pace = 0; pace < 0x10000; pace++) {
		uint32_t slept = iw_pace_slept(pace, pace & 1),
			 waited = iw_pace_waited(pace);
		uint32_t ended = measured(pace, pace, pace & 1 ? 10 : 900);

		assert_int_equal(waited & LEARNED, pace & LEARNED);
		assert_int_equal(slept & ~(63u << 6), pace & ~(63u << 6));
		assert_int_equal(ended & ~63u, pace & ~63u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_learned),
		cmocka_unit_test(test_one_in_sixteen_is_measured),
		cmocka_unit_test(test_short_sections),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
