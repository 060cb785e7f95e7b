/* SPDX-License-Identifier: MIT */
/* preload/futile.h: when waits are passed on, and how soon one is waited for in full. */
#include "common/cmocka_all.h"
#include "futile.h"

static struct iw_futile futile;

/* @n waits. How many were passed on, if those in full sleep for @reason or, without one, gain. */
static unsigned passed(unsigned n, enum iw_reason reason)
{
	unsigned some = 0;

	while (n--) {
		if (iw_futile_passes(&futile))
			some++;
		else if (reason)
			iw_futile_slept(&futile, reason);
		else
			iw_futile_gained(&futile);
	}
	return some;
}

static void after_a_row(void)
{
	CHECK_EQ(passed(IW_FUTILE_ROW, IW_SAME_CPU), 0);
	CHECK_EQ(passed(1 + IW_FUTILE_FIRST, IW_SAME_CPU), IW_FUTILE_FIRST);
	CHECK_EQ(futile.reason, IW_SAME_CPU);
}

/* Twice as many each time. */
static void more_and_more(void)
{
	(void)passed(IW_FUTILE_ROW, IW_BUDGET_EMPTY);
	for (unsigned n = IW_FUTILE_FIRST; n < IW_FUTILE_MOST; n *= 2)
		CHECK_EQ(passed(n + 1, IW_BUDGET_EMPTY), n);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(passed(IW_FUTILE_MOST + 1, IW_BUDGET_EMPTY), IW_FUTILE_MOST);
	CHECK_EQ(futile.reason, IW_BUDGET_EMPTY);
}

/* One gain, and all waits are in full again, as at the beginning. */
static void until_one_gains(void)
{
	(void)passed(1000, IW_CHEAP);
	CHECK_EQ(passed(IW_FUTILE_MOST + 1, IW_NO_REASON) > 0, true);
	CHECK_EQ(passed(IW_FUTILE_ROW, IW_CHEAP), 0);
	CHECK_EQ(passed(1 + IW_FUTILE_FIRST, IW_CHEAP), IW_FUTILE_FIRST);
}

/* A wait that says nothing of the thread is no gain and no loss. */
static void of_others(void)
{
	static const enum iw_reason says_nothing[] = {
		IW_LEARNED_LONG, IW_CROWDED,  IW_PROBE,         IW_NO_FACTS,
		IW_OVERTAKEN,    IW_DEADLINE, IW_INTERRUPTIBLE,
	};
	static const enum iw_reason futile_ones[] = {
		IW_WINDOW_OVER,  IW_PRESET_BLOCK, IW_ONE_CPU, IW_RATIONED, IW_SAME_CPU,
		IW_BUDGET_EMPTY, IW_PREEMPTED,    IW_STOLEN,  IW_CHEAP,
	};

	for (unsigned i = 0; i < sizeof(says_nothing) / sizeof(says_nothing[0]); i++)
		CHECK_EQ(passed(1000, says_nothing[i]), 0);
	(void)passed(IW_FUTILE_ROW - 1, IW_STOLEN);
	CHECK_EQ(passed(1000, IW_LEARNED_LONG), 0);
	CHECK_EQ(passed(2, IW_STOLEN), 0);
	CHECK_EQ(passed(IW_FUTILE_FIRST, IW_STOLEN), IW_FUTILE_FIRST);
	for (unsigned i = 0; i < sizeof(futile_ones) / sizeof(futile_ones[0]); i++) {
		iw_futile_gained(&futile);
		CHECK_EQ(passed(1000, futile_ones[i]) > 800, true);
		CHECK_EQ(futile.reason, futile_ones[i]);
	}
}

/* Signal handlers may see it half written, and write it: a wait in full comes soon all the same. */
static void any_content(void)
{
	for (unsigned i = 0; i < 256; i++) {
		unsigned n = 0;

		futile = (struct iw_futile){ (uint8_t)i, (uint8_t)(3 * i), (uint8_t)(7 * i),
					     (uint8_t)i };
		while (n <= UINT8_MAX && iw_futile_passes(&futile))
			n++;
		CHECK_EQ(n <= UINT8_MAX, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(after_a_row),     CHILD_TEST(more_and_more),
		CHILD_TEST(until_one_gains), CHILD_TEST(of_others),
		CHILD_TEST(any_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
