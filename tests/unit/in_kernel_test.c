/* SPDX-License-Identifier: MIT */
/*
 * lib/engine over a fake kernel, for what is waited for in the kernel: when it looks, when it
 * yields, what it makes of that, and how it learns what a sleep costs without a stamp.
 */
#include "common/cmocka_all.h"
#include "policy/call_cost.h"
#include "policy/sites.h"
#include "unit/in_kernel.h"

#define LOOKS_PER_YIELD 8
#define VAIN_LOOKS      4
#define LEFT_OUT        16

/* It was there: no wait, nothing to count and nothing to learn. */
static void there_at_the_first_look(void)
{
	world();
	again(1);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(call.looks, 1);
	CHECK_EQ(fake.yields, 0);
	CHECK_EQ(counts().spun, 0);
	CHECK_EQ(call.window.bins.v, 0);
	CHECK_EQ(call.window.state.v, 0);
}

static void yields_now_and_then(void)
{
	world();
	again(12 * US);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(call.sleeps, 0);
	CHECK(call.looks > 24);
	CHECK(fake.yields >= call.looks / LOOKS_PER_YIELD - 1);
	CHECK(fake.yields <= call.looks / LOOKS_PER_YIELD + 1);
	CHECK_EQ(counts().spun, 1);
	CHECK(!iw_thread.shares_cpu);
}

/* Others run for 5 us in each yield. */
static void others_run(void)
{
	fake.now_ns += 5 * US;
}

/* Their time is no cost of the spin: it lasts several windows, and yields after each look. */
static void time_of_others_is_free(void)
{
	world();
	fake.on_yield = others_run;
	again(100 * US);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(call.sleeps, 0);
	CHECK(fake.yields >= 15);
	CHECK(call.looks <= fake.yields + LOOKS_PER_YIELD + 1);
	CHECK(counts().spun_useful_ns < 30 * US);
	CHECK(iw_thread.shares_cpu);
}

/* A wait that ends while others run, for the first time that they do. */
static void wait_for_others(unsigned looks)
{
	again(5 * US);
	/* Neither a trial nor a probe: whether to sleep is not the question here. */
	iw_thread.trial = (struct iw_trial){ .on = NULL };
	iw_thread.unprobed = 0;
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(call.looks, looks);
	CHECK_EQ(fake.yields, 1);
}

/* The thread shares its CPU, and has looked in vain as often as it takes. */
static void look_in_vain(void)
{
	time_of_others_is_free();
	for (unsigned i = 1; i < VAIN_LOOKS; i++)
		wait_for_others(2);
}

/* Then whoever is waited for is to run before the first look, most of the time. */
static void no_first_look_where_the_cpu_is_shared(void)
{
	look_in_vain();
	for (unsigned i = 0; i < 3 * (LEFT_OUT + 1); i++)
		wait_for_others(i % (LEFT_OUT + 1) == LEFT_OUT ? 2 : 1);
	/* Until nobody takes it any more. */
	fake.on_yield = NULL;
	again(12 * US);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK(!iw_thread.shares_cpu);
	again(1);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(fake.yields, 0);
}

/* @window has it already, as another call has told. */
static void read_what_is_there(struct ipcwait_window *window)
{
	again(1);
	call.base.window = window;
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(call.looks, 1);
	CHECK_EQ(fake.yields, 0);
}

/* What is read then is looked for at once, and does not count among the looks in vain. */
static void a_server_reads_at_once(void)
{
	struct ipcwait_window other = { 0 };

	look_in_vain();
	for (unsigned i = 0; i < LEFT_OUT; i++) {
		read_what_is_there(&other);
		wait_for_others(1);
	}
}

/* As soon as a look was good for something, there are looks again. */
static void a_look_that_finds_it_ends_the_row(void)
{
	look_in_vain();
	for (unsigned i = 0; i < LEFT_OUT; i++)
		wait_for_others(1);
	read_what_is_there(&call.window);
	for (unsigned i = 0; i < VAIN_LOOKS; i++)
		wait_for_others(2);
	wait_for_others(1);
}

static void nobody(void)
{
	fake.now_ns += 3 * US;
}

static void somebody_quick(void)
{
	fake.now_ns += 400;
	fake.rseq_field = 0;
}

static void somebody_once(void)
{
	fake.now_ns += 400;
	if (fake.yields == 1)
		fake.rseq_field = 0;
}

/* And not the time: where system calls are slow a yield takes long though nobody ran. */
static void the_sentinel_tells_who_ran(void)
{
	world();
	fake_rseq();
	fake.on_yield = nobody;
	again(12 * US);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK(fake.yields > 0 && !iw_thread.shares_cpu);
	fake.on_yield = somebody_quick;
	again(12 * US);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK(iw_thread.shares_cpu);
	/* From then on each yield is asked again. */
	fake.on_yield = somebody_once;
	again(20 * US);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK(fake.yields > 1 && !iw_thread.shares_cpu);
	fake.on_yield = nobody;
	again(12 * US);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK(!iw_thread.shares_cpu);
}

/* Waits of 20 us for whoever shares the CPU, @sleep_ns where they sleep. How many slept. */
static unsigned share(unsigned n, int64_t sleep_ns)
{
	unsigned slept = 0;

	while (n--) {
		call.sleep_ns = sleep_ns;
		again(20 * US);
		CHECK_EQ(iw_wait(&call.base), 0);
		slept += call.base.reason == IW_CHEAP;
	}
	return slept;
}

static void other_runs(void)
{
	fake.now_ns += 5 * US;
	fake.rseq_field = 0;
}

static void sleeps_where_that_is_cheaper(void)
{
	world();
	fake_rseq();
	fake.on_yield = other_runs;
	(void)share(100, 8 * US);
	CHECK(share(1000, 8 * US) > 800);
	/* Until it is not. */
	(void)share(2000, 60 * US);
	CHECK(share(1000, 60 * US) < 200);
}

static void no_trial_without_need(void)
{
	world();
	fake_rseq();
	CHECK_EQ(share(500, 8 * US), 0);
}

/* Their time is free, but the caller's is not: the spin is over at the deadline. */
static void deadlines_pass_while_others_run(void)
{
	int64_t deadline_ns;

	world();
	fake.on_yield = others_run;
	(void)share(1, 8 * US);
	again(0);
	call.base.deadline_ns = deadline_ns = fake.now_ns + 20 * US;
	call.sleep_ns = 0;
	(void)iw_wait(&call.base);
	CHECK_EQ(call.base.reason, IW_DEADLINE);
	CHECK(fake.now_ns >= deadline_ns && fake.now_ns < deadline_ns + 10 * US);
}

/*
 * As of hundreds of descriptors. The first look, one that passes the window, and one more, after
 * which that is known; the time was spun.
 */
static void dear_looks_are_few_and_charged(void)
{
	world();
	fake_rseq();
	call.look_ns = 250 * US;
	again(0);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(call.base.reason, IW_WINDOW_OVER);
	CHECK_EQ(call.looks, 3);
	CHECK(counts().spun_wasted_ns >= 250 * US);
	CHECK_EQ(counts().stolen, 0);
}

static void teach_long(void)
{
	for (int i = 0; i < 64; i++) {
		call.sleep_ns = 5 * MS;
		again(0);
		CHECK_EQ(iw_wait(&call.base), 0);
		fake.now_ns += 20 * MS;
	}
}

/* The call looks itself. */
static void long_waits_are_left_to_the_call(void)
{
	world();
	teach_long();
	again(0);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(call.looks, 0);
	CHECK_EQ(fake.yields, 0);
	CHECK_EQ(call.sleeps, 1);
	CHECK_EQ(call.base.reason, IW_LEARNED_LONG);
}

/* Calls that find it at once say nothing about waits. */
static void what_was_there_is_not_learned(void)
{
	struct ipcwait_window was;

	world();
	teach_long();
	was = call.window;
	call.sleep_ns = 400;
	for (int i = 0; i < 100; i++) {
		again(0);
		CHECK_EQ(iw_wait(&call.base), 0);
	}
	CHECK_EQ(call.sleeps, 1);
	CHECK_EQ(call.window.bins.v, was.bins.v);
}

/* Waits of 6 us, and a sleep makes them @cost_ns longer. */
static void play(unsigned n, int64_t cost_ns)
{
	for (unsigned i = 0; i < n; i++) {
		call.sleep_ns = 6 * US + cost_ns;
		again(6 * US);
		CHECK_EQ(iw_wait(&call.base), 0);
		fake.now_ns += 100 * US;
	}
}

static uint64_t known_ns(void)
{
	return iw_call_cost_ns(iw_facts(), iw_tick_now(&iw_facts()->rate));
}

/* One in eight sleeps until it is known, and then one in 64 at most, each 20 ms. */
static void learns_what_a_sleep_costs(void)
{
	uint64_t slept;

	world();
	CHECK_EQ(known_ns(), 0);
	play(60, 12 * US);
	CHECK(known_ns() > 11000 && known_ns() < 14500);
	slept = counts().slept;
	CHECK(slept >= 4 && slept <= 8);
	play(640, 12 * US);
	CHECK(counts().slept > slept);
	CHECK(counts().slept <= slept + 5);
	/* B of the waits in the kernel alone. */
	again(0);
	call.sleep_ns = 70 * US;
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK(call.base.block_ns > 11000 && call.base.block_ns < 14500);
}

/* It is soon forgotten, as it might have been wrong. */
static void forgets_what_a_sleep_costs(void)
{
	learns_what_a_sleep_costs();
	fake.now_ns += 150 * MS;
	CHECK_EQ(known_ns(), 0);
	again(0);
	CHECK_EQ(iw_wait(&call.base), 0);
	CHECK_EQ(call.base.block_ns, PROBE_BLOCK_NS);
}

/* What sleeps because it learned to, or must, says nothing of what a sleep costs. */
static void only_probes_are_samples(void)
{
	world();
	play(7, 12 * US);
	CHECK_EQ(known_ns(), 0);
	iw_thread.unprobed = 0;
	for (int i = 0; i < 6; i++) {
		call.sleep_ns = 500 * US;
		again(0);
		CHECK_EQ(iw_wait(&call.base), 0);
		iw_thread.unprobed = 0;
	}
	CHECK_EQ(known_ns(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(there_at_the_first_look),
		CHILD_TEST(yields_now_and_then),
		CHILD_TEST(time_of_others_is_free),
		CHILD_TEST(no_first_look_where_the_cpu_is_shared),
		CHILD_TEST(a_server_reads_at_once),
		CHILD_TEST(a_look_that_finds_it_ends_the_row),
		CHILD_TEST(long_waits_are_left_to_the_call),
		CHILD_TEST(what_was_there_is_not_learned),
		CHILD_TEST(learns_what_a_sleep_costs),
		CHILD_TEST(forgets_what_a_sleep_costs),
		CHILD_TEST(only_probes_are_samples),
		CHILD_TEST(the_sentinel_tells_who_ran),
		CHILD_TEST(sleeps_where_that_is_cheaper),
		CHILD_TEST(no_trial_without_need),
		CHILD_TEST(deadlines_pass_while_others_run),
		CHILD_TEST(dear_looks_are_few_and_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
