/* SPDX-License-Identifier: MIT */
/*
 * lib/env/tick.c over a fake clock and a fake counter: what happens between the load of the library
 * and the first wait. The load time is that of this program, about 0.
 */
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "env/tick.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

#define TICKS_PER_NS 3

/* Less than a comparison that starts anew takes, and more than one that does not. */
#define SHORT_NS (100 * US)

/* What the counter has counted beside the clock: in a suspend, or by a step. */
static int64_t beside_ns;

uint64_t fake_ticks(void)
{
	return (uint64_t)(fake.now_ns + beside_ns) * TICKS_PER_NS;
}

struct past {
	int64_t ns;           /* since the load */
	int64_t suspended_ns; /* and boot time beside it */
	int64_t beside_ns;
	bool anew; /* the load time is not good any more */
};

static void assert_right(const struct past *p)
{
	struct iw_tick_rate rate;

	fake_reset();
	fake.counter_trusted = true;
	fake.now_ns = p->ns;
	fake.suspended_ns = p->suspended_ns;
	beside_ns = p->beside_ns;
	rate = iw_tick_measure();
	assert_true(rate.counter);
	assert_in_range(iw_tick_from_ns(&rate, 1000000), 2970000, 3030000);
	assert_in_range(iw_tick_to_ns(&rate, 3000000), 990000, 1010000);
	assert_int_equal(fake.now_ns - p->ns > SHORT_NS, p->anew);
}

static void test_nothing_happened(void **state)
{
	static const struct past pasts[] = { { .ns = MS },
					     { .ns = 9 * S },
					     { .ns = S, .suspended_ns = 900 * US } };

	(void)state;
	for (unsigned i = 0; i < sizeof(pasts) / sizeof(pasts[0]); i++)
		assert_right(&pasts[i]);
}

/* However long it lasted, and whether the counter stood still as the clock did. */
static void test_suspend(void **state)
{
	static const int64_t lengths[] = { 2 * MS, S, 3600 * S };

	(void)state;
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_right(&(struct past){ .ns = 2 * MS,
					     .suspended_ns = lengths[i],
					     .beside_ns = lengths[i],
					     .anew = true });
		assert_right(&(struct past){
			.ns = 2 * MS, .suspended_ns = lengths[i], .anew = true });
	}
}

/* As after a migration that hid the suspend from boot time too. */
static void test_long_ago(void **state)
{
	(void)state;
	assert_right(&(struct past){ .ns = 11 * S, .beside_ns = 30 * S, .anew = true });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_happened),
		cmocka_unit_test(test_suspend),
		cmocka_unit_test(test_long_ago),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
