/* SPDX-License-Identifier: MIT */
/*
 * lib/policy/call_cost.c: what sleeps cost whose waker leaves no stamp. The estimate is one for the
 * process, so each test runs in a child of its own.
 */
#include "common/cmocka_all.h"
#include "policy/call_cost.h"

#define MS UINT64_C(1000000)

/* One tick a nanosecond. */
static const struct iw_facts facts = {
	.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
};

static uint64_t now = 1000 * MS;

static void differ(unsigned n, uint64_t slept_ns, uint64_t spun_ns)
{
	while (n--)
		iw_call_cost_note(&facts, now, slept_ns, spun_ns);
}

static uint64_t known(void)
{
	return iw_call_cost_ns(&facts, now);
}

static void known_after_four(void)
{
	CHECK_EQ(known(), 0);
	CHECK(iw_call_cost_probe_due(&facts, now));
	differ(3, 30000, 10000);
	CHECK_EQ(known(), 0);
	CHECK(iw_call_cost_probe_due(&facts, now));
	differ(1, 30000, 10000);
	CHECK_EQ(known(), 20000);
	CHECK(!iw_call_cost_probe_due(&facts, now));
}

/* Waits that differ make samples that are too large as often as too small. */
static void median_of_the_last(void)
{
	for (int i = 0; i < 8; i++) {
		differ(1, 90000, 10000);
		differ(1, 30000, 50000);
		differ(1, 30000, 15000);
	}
	CHECK_EQ(known(), 15000);
	differ(16, 50000, 10000);
	CHECK_EQ(known(), 40000);
}

/* No sleep is for nothing; and one that took long was for another reason. */
static void bounds(void)
{
	differ(16, 4000, 10000);
	CHECK_EQ(known(), 5000);
	differ(16, 5000000, 10000);
	CHECK_EQ(known(), 500000);
}

static void forgotten(void)
{
	differ(4, 30000, 10000);
	now += 19 * MS;
	CHECK(!iw_call_cost_probe_due(&facts, now));
	now += 2 * MS;
	CHECK(iw_call_cost_probe_due(&facts, now));
	CHECK_EQ(known(), 20000);
	now += 80 * MS;
	CHECK_EQ(known(), 0);
	/* And learned anew from as many. */
	differ(3, 50000, 10000);
	CHECK_EQ(known(), 0);
	differ(1, 50000, 10000);
	CHECK_EQ(known(), 40000);
}

/* Another thread may be ahead by a little; a counter that stepped back is by more. */
static void older_time(void)
{
	differ(4, 30000, 10000);
	now -= 1000;
	CHECK_EQ(known(), 20000);
	CHECK(!iw_call_cost_probe_due(&facts, now));
	now -= 500 * MS;
	CHECK_EQ(known(), 0);
	CHECK(iw_call_cost_probe_due(&facts, now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(known_after_four), CHILD_TEST(median_of_the_last),
		CHILD_TEST(bounds),           CHILD_TEST(forgotten),
		CHILD_TEST(older_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
