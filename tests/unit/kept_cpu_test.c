/* SPDX-License-Identifier: MIT */
/*
 * lib/engine over a fake kernel, for what is waited for in the kernel, where others keep the CPU
 * that a thread gives up: to those it does not yield again, or seldom.
 */
#include "common/cmocka_all.h"
#include "unit/in_kernel.h"

static void hog(void)
{
	fake.now_ns += 3 * MS;
	fake.rseq_field = 0;
}

/* Somebody has work of its own: no spin beside that. */
static void ends_where_others_keep_the_cpu(void)
{
	world();
	fake_rseq();
	fake.on_yield = hog;
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(fake.yields, 1);
	CHECK_EQ(call.sleeps, 1);
	CHECK_EQ(call.base.reason, IW_PREEMPTED);
	CHECK(counts().spun_wasted_ns > US && counts().spun_wasted_ns < 10 * US);
}

/* A wait for what comes while others have the CPU: it is there when the thread runs again. */
static bool yields_to(void (*others)(void))
{
	fake.on_yield = others;
	again(4 * US);
	iw_thread.trial = (struct iw_trial){ .on = NULL };
	iw_thread.unprobed = 0;
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(fake.yields + call.sleeps, 1);
	CHECK(call.base.reason == (fake.yields ? IW_NO_REASON : IW_CHEAP));
	return fake.yields;
}

/*
 * Who has work of its own keeps the CPU for 3 ms each time that it is given up. To wait for that is
 * a loss, though the look after it finds something: so none for 300 ms, less those saved up.
 */
static void no_yield_to_those_who_keep_the_cpu(void)
{
	world();
	fake_rseq();
	fake.now_ns += 10000 * MS;
	CHECK(yields_to(hog));
	for (unsigned i = 0; i < 100; i++)
		CHECK(!yields_to(hog));
	fake.now_ns += 100 * MS;
	CHECK(yields_to(hog));
	CHECK(!yields_to(hog));
	fake.now_ns += 280 * MS;
	CHECK(!yields_to(hog));
	fake.now_ns += 30 * MS;
	CHECK(yields_to(hog));
}

static void short_job(void)
{
	fake.now_ns += MS;
	fake.rseq_field = 0;
}

/* A job of a millisecond now and then is no reason to sleep in between. */
static void a_short_job_costs_no_more_than_itself(void)
{
	world();
	fake_rseq();
	fake.now_ns += 10000 * MS;
	for (unsigned i = 0; i < 20; i++) {
		CHECK(yields_to(short_job));
		fake.now_ns += (i < 4 ? 60 : 150) * MS;
	}
}

/* A counter that stepped back is no reason to sleep for as long as that. */
static void a_pause_ends_though_the_counter_steps_back(void)
{
	world();
	fake_rseq();
	fake.now_ns += 100000 * MS;
	CHECK(yields_to(hog));
	fake.now_ns -= 50000 * MS;
	CHECK(yields_to(hog));
	CHECK(!yields_to(hog));
	fake.now_ns += 150 * MS;
	CHECK(yields_to(hog));
}

static void other_runs(void)
{
	fake.now_ns += 5 * US;
	fake.rseq_field = 0;
}

/* Waits of 20 us for whoever shares the CPU, where a sleep takes 60. How many yielded. */
static unsigned share(unsigned n)
{
	unsigned yielded = 0;

	fake.on_yield = other_runs;
	while (n--) {
		call.sleep_ns = 60 * US;
		again(20 * US);
		CHECK_EQ(iw_wait(&call.base), 0);
		yielded += call.base.reason != IW_CHEAP;
	}
	return yielded;
}

/* Who kept the CPU is gone: the time without yields is not what those cost that were under way. */
static void a_pause_is_no_cost_of_the_trial(void)
{
	world();
	fake_rseq();
	fake.now_ns += 10000 * MS;
	CHECK(share(1000) > 800);
	fake.on_yield = hog;
	again(4 * US);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(share(100), 0);
	fake.now_ns += 400 * MS;
	CHECK(share(1000) > 800);
}

/* A gap of more than a second, all of it given away: what was spun before is spun. */
static void stopped_for_long(void)
{
	fake.now_ns += 3000 * MS;
	fake.rseq_field = 0;
}

static void a_yield_of_seconds_is_no_part_of_the_spin(void)
{
	world();
	fake_rseq();
	fake.on_yield = stopped_for_long;
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(fake.yields, 1);
	CHECK(counts().spun_wasted_ns > US && counts().spun_wasted_ns < 10 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(ends_where_others_keep_the_cpu),
		CHILD_TEST(no_yield_to_those_who_keep_the_cpu),
		CHILD_TEST(a_short_job_costs_no_more_than_itself),
		CHILD_TEST(a_pause_ends_though_the_counter_steps_back),
		CHILD_TEST(a_pause_is_no_cost_of_the_trial),
		CHILD_TEST(a_yield_of_seconds_is_no_part_of_the_spin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
