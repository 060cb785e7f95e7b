/* SPDX-License-Identifier: MIT */
/* lib/policy/budget.c over a fake kernel: how much spinning may fail. */
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "os/thread.h"
#include "policy/budget.h"

#define US    UINT64_C(1000)
#define MS    UINT64_C(1000000)
#define START (10000 * MS)

/* Ticks are nanoseconds. */
static const struct iw_facts facts = {
	.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
	.config = { .spin_budget_percent = -1 },
	.cpus = 2,
};

/* Fail for @us in spins of 10 us, as fast as possible, while allowed. Returns the time spent. */
static uint64_t fail_for(uint64_t us, uint64_t *now)
{
	uint64_t spent = 0;

	while (spent < us * US && iw_budget_allows(&facts, *now)) {
		*now += 10 * US;
		spent += 10 * US;
		iw_budget_charge(&facts, *now, 10 * US);
	}
	return spent;
}

static void burst_then_a_share(void)
{
	uint64_t now = START, begin, spent;

	fake_reset();
	CHECK(iw_budget_allows(&facts, now));
	spent = fail_for(5000, &now);
	CHECK(spent >= 900 * US && spent <= 1200 * US);
	CHECK(!iw_budget_allows(&facts, now));
	/* From then on a twentieth of the time. */
	spent = 0;
	for (begin = now; now < begin + 1000 * MS; now += 100 * US)
		spent += fail_for(10, &now);
	CHECK(spent >= 40 * MS && spent <= 60 * MS);
}

static void comes_back_in_time(void)
{
	uint64_t now = START;

	fake_reset();
	(void)fail_for(5000, &now);
	CHECK(!iw_budget_allows(&facts, now + 100 * US));
	CHECK(iw_budget_allows(&facts, now + 100 * MS));
	/* A rest earns one burst, not more. */
	now += 3600000 * MS;
	CHECK(fail_for(5000, &now) <= 1200 * US);
}

/* A thread within its own share is stopped by those that spend the process's. */
static void threads_share_the_process(void)
{
	uint64_t now = START, spent = 0;

	fake_reset();
	for (int thread = 0; thread < 16; thread++) {
		iw_thread = (struct iw_thread){ 0 };
		spent += fail_for(500, &now);
	}
	CHECK(spent <= 1500 * US);
	iw_thread = (struct iw_thread){ 0 };
	CHECK(!iw_budget_allows(&facts, now));
}

/* A process that was stopped in a spin, or a machine that was suspended, spins again soon. */
static void long_stop_is_forgiven(void)
{
	uint64_t now = START;

	fake_reset();
	iw_budget_charge(&facts, now, 3600000 * MS);
	CHECK(!iw_budget_allows(&facts, now));
	CHECK(iw_budget_allows(&facts, now + 60 * MS));
}

/* Any number that a handler, an overflow or a counter that jumps may leave is legal. */
static void odd_numbers(void)
{
	fake_reset();
	iw_budget_charge(&facts, START, 0);
	CHECK(iw_budget_allows(&facts, START));
	iw_thread.full_at = UINT64_MAX;
	CHECK(iw_budget_allows(&facts, START));
	iw_budget_charge(&facts, START, 10 * US);
	CHECK(iw_budget_allows(&facts, START));
	CHECK(iw_budget_allows(&facts, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(burst_then_a_share),
		CHILD_TEST(comes_back_in_time),
		CHILD_TEST(threads_share_the_process),
		CHILD_TEST(long_stop_is_forgiven),
		CHILD_TEST(odd_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
