/* SPDX-License-Identifier: MIT */
/*
 * lib/env/tick.c over a fake clock and a fake counter: what happens between the load of the library
 * and the first wait, and what the counter does while its rate is measured. The load time is that
 * of this program, about 0.
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

/* As the counter was at the load of the library. */
#define BOOT_NS (100000 * S)

/* What the counter has counted beside the clock: in a suspend, or by a step. */
static int64_t beside_ns;

/* Before the reading step_at, 0: none, it steps by step_ns; or it is any of two at each. */
static unsigned readings, step_at;
static int64_t step_ns;
static uint64_t random_cpu;

uint64_t fake_ticks(void)
{
	if (++readings == step_at)
		beside_ns += step_ns;
	if (random_cpu)
		beside_ns = check_random(&random_cpu) & 1 ? step_ns : 0;
	return (uint64_t)(BOOT_NS + fake.now_ns + beside_ns) * TICKS_PER_NS;
}

struct past {
	int64_t ns;           /* since the load */
	int64_t suspended_ns; /* and boot time beside it */
	int64_t beside_ns;
	bool anew; /* the load time is not good any more */
};

static struct iw_tick_rate measure(const struct past *p)
{
	fake_reset();
	fake.counter_trusted = true;
	fake.now_ns = p->ns;
	fake.suspended_ns = p->suspended_ns;
	beside_ns = p->beside_ns;
	readings = 0;
	return iw_tick_measure();
}

static void assert_rate(const struct iw_tick_rate *rate)
{
	assert_true(rate->counter);
	assert_in_range(iw_tick_from_ns(rate, 1000000), 2970000, 3030000);
	assert_in_range(iw_tick_to_ns(rate, 3000000), 990000, 1010000);
}

static void assert_right(const struct past *p)
{
	struct iw_tick_rate rate = measure(p);

	assert_rate(&rate);
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

/*
 * As in a child that was forked into a time namespace whose clocks are behind, boot time among them
 * or not: the load time lies ahead, and nobody waits for it.
 */
static void test_clocks_that_are_behind(void **state)
{
	static const int64_t lengths[] = { 2 * MS, 10 * S, 3600 * S };

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct past p = { .ns = -lengths[i / 2],
				  .suspended_ns = i % 2 ? lengths[i / 2] : 0,
				  .beside_ns = lengths[i / 2],
				  .anew = true };

		assert_right(&p);
		assert_true(fake.now_ns - p.ns < MS);
	}
}

static const int64_t steps[] = { -BOOT_NS / 2, -3600 * S, -10 * S,  -20 * MS,
				 20 * MS,      10 * S,    3600 * S, BOOT_NS };

/* Of a machine that was moved, or the first wait is on another CPU than the load was. */
static void test_stepped_since_the_load(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		assert_right(&(struct past){
			.ns = 2 * MS, .beside_ns = steps[i], .anew = true });
}

/* Wherever it steps, what is measured is its rate. */
static void test_steps_at_any_reading(void **state)
{
	const struct past pasts[] = { { .ns = 2 * MS }, { .ns = 11 * S } };
	unsigned most = 1;

	(void)state;
	for (step_at = 1; step_at <= most; step_at++) {
		for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			struct iw_tick_rate rate;

			step_ns = steps[i];
			rate = measure(&pasts[i % 2]);
			assert_rate(&rate);
			most = readings > most ? readings : most;
		}
	}
	step_at = 0;
}

/* No rate can be measured: then the clock is read instead, and that is known in a moment. */
static void test_another_cpu_each_time(void **state)
{
	(void)state;
	step_ns = 10 * S;
	for (unsigned i = 0; i < 100; i++) {
		const struct past past = { .ns = 2 * MS };
		struct iw_tick_rate rate;

		random_cpu = check_seed() | 1;
		rate = measure(&past);
		random_cpu = 0;
		if (rate.counter)
			assert_rate(&rate);
		else
			assert_int_equal(iw_tick_from_ns(&rate, 1000), 1000);
		assert_true(fake.now_ns - past.ns < MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stepped_since_the_load),
		cmocka_unit_test(test_steps_at_any_reading),
		cmocka_unit_test(test_another_cpu_each_time),
		cmocka_unit_test(test_nothing_happened),
		cmocka_unit_test(test_suspend),
		cmocka_unit_test(test_long_ago),
		cmocka_unit_test(test_clocks_that_are_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
