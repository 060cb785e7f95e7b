/* SPDX-License-Identifier: MIT */
/* lib/policy/licence.c over a fake kernel: how many threads may spin at a time. */
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "env/cpus.h"
#include "policy/licence.h"

#define MS   UINT64_C(1000000)
#define NOW  (1000 * MS)
#define MOST 64

/* Ticks are nanoseconds. */
static const struct iw_facts facts = {
	.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
};

/* The process may use so many CPUs, and has found that out. */
static void on_cpus(unsigned n)
{
	fake_reset();
	fake.allowed.count = n;
	(void)iw_cpus_several(&facts.rate, NOW, 0);
}

static uint32_t take(uint64_t now)
{
	return iw_licence_take(&facts, now);
}

/* One CPU is left for the others, but one thread may always spin. */
static void one_fewer_than_cpus(void)
{
	static const struct {
		uint32_t cpus, licences;
	} rows[] = { { 1, 1 }, { 2, 1 }, { 3, 2 }, { 4, 3 }, { 64, 63 } };
	uint32_t taken[MOST];

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		on_cpus(rows[i].cpus);
		for (uint32_t n = 0; n < rows[i].licences; n++) {
			taken[n] = take(NOW);
			CHECK_EQ(taken[n], n + 1);
		}
		CHECK_EQ(take(NOW), 0);
		CHECK_EQ(take(NOW + 100 * MS), 0);
		/* Whichever comes back is the next to be had. */
		iw_licence_return(taken[rows[i].licences / 2]);
		CHECK_EQ(take(NOW), taken[rows[i].licences / 2]);
		CHECK_EQ(take(NOW), 0);
		for (uint32_t n = 0; n < rows[i].licences; n++)
			iw_licence_return(taken[n]);
	}
}

static void many_cpus_need_no_count(void)
{
	on_cpus(1000);
	for (uint32_t n = 0; n < MOST; n++)
		CHECK_EQ(take(NOW), n + 1);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(take(NOW), MOST + 1);
	/* That one is nobody's: giving it back frees none. */
	iw_licence_return(MOST + 1);
	iw_licence_return(UINT32_MAX);
	iw_licence_return(0);
	CHECK_EQ(take(NOW), MOST + 1);
}

/* A thread that was cancelled in a spin keeps no other from spinning for good. */
static void expires(void)
{
	on_cpus(2);
	CHECK_EQ(take(NOW), 1);
	CHECK_EQ(take(NOW + 199 * MS), 0);
	CHECK_EQ(take(NOW + 201 * MS), 1);
	CHECK_EQ(take(NOW + 399 * MS), 0);
	/* Nor does a counter that jumped back. */
	CHECK_EQ(take(1), 1);
	iw_licence_return(1);
}

/* The time was read before the licence was asked for: another thread may be ahead a little. */
static void a_time_just_before_is_no_expiry(void)
{
	on_cpus(2);
	CHECK_EQ(take(NOW), 1);
	CHECK_EQ(take(NOW), 0);
	CHECK_EQ(take(NOW - 1), 0);
	CHECK_EQ(take(NOW - 10000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(one_fewer_than_cpus),
		CHILD_TEST(many_cpus_need_no_count),
		CHILD_TEST(expires),
		CHILD_TEST(a_time_just_before_is_no_expiry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
