/* SPDX-License-Identifier: MIT */
/* lib/policy/credit.c: how much spinning may fail. */
#include "common/cmocka_all.h"
#include "policy/credit.h"

#define US    UINT64_C(1000)
#define MS    UINT64_C(1000000)
#define START (10000 * MS)

/* Ticks are half nanoseconds, so that no test takes one for the other. */
#define TICKS(ns) (2 * (ns))

static struct iw_facts facts = {
	.rate = { false, UINT64_C(1) << 31, UINT64_C(1) << 33 },
	.config = { .spin_budget_percent = -1 },
	.cpus = 2,
};

/* The account of the thread that runs. */
static uint64_t full_at;

static bool allows(uint64_t now)
{
	return iw_credit_allows(&facts, full_at, TICKS(now));
}

static void charge(uint64_t now, uint64_t ns)
{
	iw_credit_charge(&facts, &full_at, TICKS(now), TICKS(ns));
}

/* Fail for @us in spins of 10 us, as fast as possible, while allowed. Returns the time spent. */
static uint64_t fail_for(uint64_t us, uint64_t *now)
{
	uint64_t spent = 0;

	while (spent < us * US && allows(*now)) {
		*now += 10 * US;
		spent += 10 * US;
		charge(*now, 10 * US);
	}
	return spent;
}

/* What failing takes in a second, by as many spins as are allowed. */
static uint64_t fail_for_a_second(uint64_t *now)
{
	uint64_t begin = *now, spent = 0;

	for (; *now < begin + 1000 * MS; *now += 20 * US)
		spent += fail_for(10, now);
	return spent;
}

static void burst_then_a_share(void)
{
	uint64_t now = START, spent;

	CHECK(allows(now));
	spent = fail_for(5000, &now);
	CHECK(spent >= 900 * US && spent <= 1200 * US);
	CHECK(!allows(now));
	/* From then on a twentieth of the time. */
	spent = fail_for_a_second(&now);
	CHECK(spent >= 40 * MS && spent <= 60 * MS);
}

static void comes_back_in_time(void)
{
	uint64_t now = START;

	(void)fail_for(5000, &now);
	CHECK(!allows(now + 100 * US));
	CHECK(allows(now + 100 * MS));
	/* A rest earns one burst, not more. */
	now += 3600000 * MS;
	CHECK(fail_for(5000, &now) <= 1200 * US);
}

/* IPCWAIT_SPIN_BUDGET: a share of the user's own, none, and no bound. */
static void share_of_the_user(void)
{
	uint64_t now = START, spent;

	facts.config.spin_budget_percent = 20;
	(void)fail_for(5000, &now);
	spent = fail_for_a_second(&now);
	CHECK(spent >= 160 * MS && spent <= 240 * MS);
	facts.config.spin_budget_percent = 0;
	full_at = 0;
	CHECK(!allows(now));
	CHECK(!allows(now + 3600000 * MS));
	facts.config.spin_budget_percent = 100;
	full_at = TICKS(now + 30 * MS);
	CHECK(allows(now));
	CHECK_EQ(fail_for(1000000, &now), 1000000 * US);
	CHECK(allows(now));
}

/* A thread within its own share is stopped by those that spend the process's. */
static void threads_share_the_process(void)
{
	uint64_t now = START, spent = 0;

	for (int thread = 0; thread < 16; thread++) {
		full_at = 0;
		spent += fail_for(500, &now);
	}
	CHECK(spent <= 1500 * US);
	full_at = 0;
	CHECK(!allows(now));
}

/* Of 64 CPUs the process may spend 32 times what it may of two. */
static void more_cpus_more_credit(void)
{
	uint64_t now = START, spent = 0;

	facts.cpus = 64;
	for (int thread = 0; thread < 16; thread++) {
		full_at = 0;
		spent += fail_for(500, &now);
	}
	CHECK_EQ(spent, 16 * 500 * US);
}

/* A process that was stopped in a spin, or a machine that was suspended, spins again soon. */
static void long_stop_is_forgiven(void)
{
	charge(START, 3600000 * MS);
	CHECK(!allows(START));
	CHECK(allows(START + 60 * MS));
}

/* Any number that a handler, an overflow or a counter that jumps may leave is legal. */
static void odd_numbers(void)
{
	charge(START, 0);
	CHECK(allows(START));
	full_at = UINT64_MAX;
	CHECK(allows(START));
	charge(START, 10 * US);
	CHECK(allows(START));
	CHECK(iw_credit_allows(&facts, full_at, UINT64_MAX));
	/* Back to the beginning: what lies an hour ahead is no debt. */
	(void)fail_for(5000, &(uint64_t){ 3600000 * MS });
	CHECK(allows(1 * MS));
}

/* To the tick, for the thread and for the process: what is allowed, and what is charged. */
static void accounts_are_exact(void)
{
	const uint64_t burst = TICKS(1 * MS), now = TICKS(START);

	facts.cpus = 8;
	iw_credit_charge(&facts, &full_at, now, 1000);
	CHECK_EQ(full_at, now + 20 * 1000);
	/* A long spin counts as a burst, and two of them are the most. */
	iw_credit_charge(&facts, &full_at, now, 3 * burst);
	CHECK_EQ(full_at, now + 20 * 1000 + 20 * burst);
	iw_credit_charge(&facts, &full_at, now, 3 * burst);
	CHECK_EQ(full_at, now + 2 * 20 * burst);
	/* Of the process's eight CPUs a fortieth: it has 5 of 20 bursts, twice. */
	CHECK(!iw_credit_allows(&facts, 0, now + 2 * 5 * burst - 5 * burst));
	CHECK(iw_credit_allows(&facts, 0, now + 2 * 5 * burst - 5 * burst + 1));
	/* The thread's own last tick. */
	CHECK(!iw_credit_allows(&facts, full_at, full_at - 20 * burst));
	CHECK(iw_credit_allows(&facts, full_at, full_at - 20 * burst + 1));
	/* Two bursts and 20 ms ahead are a debt, more is a counter that stepped back. */
	CHECK(!iw_credit_allows(&facts, full_at, full_at - 40 * burst - TICKS(20 * MS)));
	CHECK(iw_credit_allows(&facts, full_at + now,
			       full_at + now - 40 * burst - TICKS(20 * MS) - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(burst_then_a_share),    CHILD_TEST(comes_back_in_time),
		CHILD_TEST(share_of_the_user),     CHILD_TEST(threads_share_the_process),
		CHILD_TEST(more_cpus_more_credit), CHILD_TEST(long_stop_is_forgiven),
		CHILD_TEST(odd_numbers),           CHILD_TEST(accounts_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
