/* SPDX-License-Identifier: MIT */
/* lib/policy/policy.c: which preset holds, and how long it lets a waiter spin. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "env/facts.h"
#include "policy/cost.h"
#include "policy/harm.h"
#include "engine/plan.h"
#include "policy/policy.h"
#include "engine/wait.h"
#include "policy/window.h"

#define GUEST_B 30000

/* Ticks are nanoseconds. */
static const struct iw_facts guest = {
	.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
	.virtual_machine = true,
};

/* As iw_wait() fills in a waiter. */
static uint64_t spin_ns(const struct iw_facts *facts, struct ipcwait_window *w,
			enum ipcwait_preset preset, uint64_t delay_ns)
{
	static const struct iw_waitable futex = { .kind = IPCWAIT_KIND_FUTEX };
	struct iw_waiter me = {
		.what = &futex,
		.window = w,
		.preset = preset,
		.facts = facts,
		.block_ns = iw_cost_block_ns(facts, preset),
		.delay_ns = delay_ns,
	};

	return iw_plan_spin_ns(&me, 0);
}

static int set_default(enum ipcwait_preset preset, uint32_t max_spin_us)
{
	const struct ipcwait_policy policy = { .preset = preset,
					       .max_spin_us = max_spin_us };

	errno = 4711;
	return ipcwait_policy_set_default(&policy);
}

static void set_default_errors(void)
{
	errno = 4711;
	CHECK_EQ(ipcwait_policy_set_default(NULL), -EINVAL);
	CHECK_EQ(set_default(IPCWAIT_POWER, 300), 0);
	CHECK_EQ(ipcwait_policy_set_default(
			 &(struct ipcwait_policy){ .reserved = { 0, 0, 0, 1 } }),
		 -EINVAL);
	CHECK_EQ(set_default((enum ipcwait_preset)6, 0), -EINVAL);
	CHECK_EQ(set_default((enum ipcwait_preset) - 1, 0), -EINVAL);
	CHECK_EQ(set_default((enum ipcwait_preset)256, 0), -EINVAL);
	CHECK_EQ(set_default(IPCWAIT_SPIN, 100001), -EINVAL);
	CHECK_EQ(set_default(IPCWAIT_SPIN, UINT32_MAX), -EINVAL);
	CHECK_EQ(errno, 4711);
	/* None of the failures changed anything. */
	CHECK_EQ(iw_policy_default_preset(&guest), IPCWAIT_POWER);
	CHECK_EQ(set_default(IPCWAIT_BLOCK, 100000), 0);
	CHECK_EQ(iw_policy_default_preset(&guest), IPCWAIT_BLOCK);
	CHECK_EQ(set_default(IPCWAIT_INHERIT, 0), 0);
	CHECK_EQ(iw_policy_default_preset(&guest), IPCWAIT_ADAPTIVE);
}

static void precedence(void)
{
	struct iw_facts user = guest;
	struct ipcwait_window w = { 0 };

	CHECK_EQ(iw_policy_preset(&guest, &w), IPCWAIT_ADAPTIVE);
	CHECK_EQ(set_default(IPCWAIT_POWER, 0), 0);
	CHECK_EQ(iw_policy_preset(&guest, &w), IPCWAIT_POWER);
	user.config.preset = IPCWAIT_LATENCY;
	CHECK_EQ(iw_policy_preset(&user, &w), IPCWAIT_LATENCY);
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_BLOCK), 0);
	CHECK_EQ(iw_policy_preset(&user, &w), IPCWAIT_BLOCK);
	/* Back down, step by step. */
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_INHERIT), 0);
	CHECK_EQ(iw_policy_preset(&user, &w), IPCWAIT_LATENCY);
	user.config.preset = IPCWAIT_INHERIT;
	CHECK_EQ(iw_policy_preset(&user, &w), IPCWAIT_POWER);
	/* ADAPTIVE on the object is a choice, not the absence of one. */
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_ADAPTIVE), 0);
	CHECK_EQ(iw_policy_preset(&user, &w), IPCWAIT_ADAPTIVE);
}

static void environment_reaches_the_facts(void)
{
	struct ipcwait_window w = { 0 };

	CHECK(setenv("IPCWAIT_POLICY", "latency", 1) == 0);
	CHECK(setenv("IPCWAIT_MAX_SPIN_US", "3", 1) == 0);
	CHECK_EQ(set_default(IPCWAIT_POWER, 100), 0);
	CHECK_EQ(iw_policy_preset(iw_facts(), &w), IPCWAIT_LATENCY);
	CHECK_EQ(spin_ns(iw_facts(), &w, IPCWAIT_SPIN, 0), 3000);
}

/* BLOCK never comes here: see iw_admit(). */
static void fixed_preset(void)
{
	struct ipcwait_window w = { { UINT64_MAX }, { 0 }, { 0xff00 } };

	for (int i = 0; i < 100; i++)
		CHECK_EQ(spin_ns(&guest, &w, IPCWAIT_SPIN, 0), 2 * GUEST_B);
}

static void ceiling(void)
{
	struct iw_facts user = guest;
	struct ipcwait_window w = { 0 };

	CHECK_EQ(set_default(IPCWAIT_INHERIT, 10), 0);
	CHECK_EQ(spin_ns(&user, &w, IPCWAIT_SPIN, 0), 10000);
	CHECK(spin_ns(&user, &w, IPCWAIT_ADAPTIVE, 0) <= 10000);
	user.config.max_spin_us = 40;
	CHECK_EQ(spin_ns(&user, &w, IPCWAIT_SPIN, 0), 40000);
	user.config.max_spin_us = 100000;
	CHECK_EQ(spin_ns(&user, &w, IPCWAIT_SPIN, 0), 2 * GUEST_B);
	/* A dear wake-up: 200 us are enough all the same, unless somebody allows more. */
	for (int i = 0; i < 32; i++) {
		iw_cost_note_latency(450000);
		iw_cost_note_waker(150000);
	}
	CHECK_EQ(set_default(IPCWAIT_INHERIT, 0), 0);
	CHECK_EQ(spin_ns(&guest, &w, IPCWAIT_SPIN, 0), 200000);
	CHECK(spin_ns(&guest, &w, IPCWAIT_LATENCY, 0) <= 200000);
	CHECK_EQ(spin_ns(&user, &w, IPCWAIT_SPIN, 0), 2 * 600000);
}

/* Plus or minus an eighth, and not always the same. */
static void jitter(void)
{
	struct ipcwait_window w = { 0 };
	uint64_t prior = GUEST_B * 54 / 100;
	uint64_t low = UINT64_MAX, high = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t ns = spin_ns(&guest, &w, IPCWAIT_ADAPTIVE, 0);

		low = ns < low ? ns : low;
		high = ns > high ? ns : high;
	}
	CHECK(low >= prior - prior / 8);
	CHECK(high <= prior + prior / 8);
	CHECK(low < prior - prior / 16);
	CHECK(high > prior + prior / 16);
}

/* policy.h: no single wait costs more than 2B over the best choice. */
static void jitter_stays_below_2b(void)
{
	struct ipcwait_window w = { 0 };

	for (int i = 0; i < 1000; i++)
		CHECK(spin_ns(&guest, &w, IPCWAIT_ADAPTIVE, 10 * GUEST_B) <= 2 * GUEST_B);
}

/* What may be timed, as iw_wait() fills it in. */
static struct iw_waiter timed_waiter(struct ipcwait_window *w, enum ipcwait_preset preset)
{
	static const struct iw_waitable sem = { .kind = IPCWAIT_KIND_SEM,
						.resumable = true };

	return (struct iw_waiter){
		.what = &sem,
		.window = w,
		.preset = preset,
		.facts = &guest,
		.block_ns = iw_cost_block_ns(&guest, preset),
	};
}

/* After waits of a millisecond, or of about so much. */
static void regular_waits(struct ipcwait_window *w, uint64_t off_ns)
{
	for (unsigned i = 0; i < 40; i++)
		iw_window_record(w, 1000000 + i % 2 * off_ns, 0,
				 iw_cost_block_ns(&guest, IPCWAIT_LATENCY));
}

/* Both spins of a timed sleep, and the harm that spinning did lately. */
static void timed_plan(void)
{
	struct ipcwait_window w = { 0 };
	struct iw_waiter me = timed_waiter(&w, IPCWAIT_LATENCY);

	regular_waits(&w, 4000);
	CHECK_EQ(iw_plan_spin_ns(&me, 1), 0);
	CHECK(me.plan.timed);
	CHECK_EQ(me.plan.spin_again_ns, me.block_ns * 7 / 4 - iw_cost_timer(&guest).cpu_ns);
	/* A program that allows less. */
	CHECK_EQ(set_default(IPCWAIT_INHERIT, 30), 0);
	CHECK_EQ(iw_plan_spin_ns(&me, 1), 0);
	CHECK(me.plan.timed);
	CHECK_EQ(me.plan.spin_again_ns, 30000);
	CHECK_EQ(set_default(IPCWAIT_INHERIT, 0), 0);
	/* Not enough is left to spin: then there is no sense in the timer. */
	for (int i = 0; i < 4; i++)
		iw_harm_note(&guest, 1);
	CHECK_EQ(iw_plan_spin_ns(&me, 1), 0);
	CHECK_EQ(me.plan.spin_again_ns, me.block_ns * 2 / 16);
	CHECK(me.plan.sleep.span_ns > me.plan.spin_again_ns);
	CHECK(!me.plan.timed);
}

static bool timed(struct ipcwait_window *w, enum ipcwait_preset preset)
{
	struct iw_waiter me = timed_waiter(w, preset);

	(void)iw_plan_spin_ns(&me, 1);
	return me.plan.timed;
}

/* An ordinary timer is for those to whom latency is dear, an exact one for ADAPTIVE too. */
static void presets_weigh_timers(void)
{
	struct ipcwait_window w = { 0 };

	regular_waits(&w, 0);
	CHECK(timed(&w, IPCWAIT_LATENCY));
	CHECK(!timed(&w, IPCWAIT_ADAPTIVE));
	CHECK(!timed(&w, IPCWAIT_POWER));
	for (int i = 0; i < 32; i++)
		iw_cost_note_timer(5000);
	CHECK(timed(&w, IPCWAIT_LATENCY));
	CHECK(timed(&w, IPCWAIT_ADAPTIVE));
	CHECK(!timed(&w, IPCWAIT_POWER));
}

/* B less the latency: to ADAPTIVE the waker's share, to LATENCY three latencies more. */
static void what_a_timed_sleep_may_cost(void)
{
	static const uint64_t latencies_more[] = {
		[IPCWAIT_ADAPTIVE] = 0, [IPCWAIT_LATENCY] = 3
	};
	unsigned planned[3] = { 0 };
	struct ipcwait_window w = { 0 };

	regular_waits(&w, 2000);
	for (uint64_t waker_ns = 500; waker_ns < 20000; waker_ns += 250) {
		for (int i = 0; i < 160; i++) {
			iw_cost_note_latency(2000);
			iw_cost_note_waker(waker_ns);
		}
		for (unsigned p = IPCWAIT_ADAPTIVE; p <= IPCWAIT_LATENCY; p++) {
			struct iw_waiter me = timed_waiter(&w, p);
			uint64_t worth_ns = waker_ns + latencies_more[p] * 2000;

			(void)iw_plan_spin_ns(&me, 1);
			CHECK_EQ(me.plan.timed, me.plan.sleep.cost_ns < worth_ns);
			planned[p] += me.plan.timed;
		}
	}
	CHECK(planned[IPCWAIT_ADAPTIVE] > 5);
	CHECK(planned[IPCWAIT_LATENCY] > planned[IPCWAIT_ADAPTIVE]);
}

/* What a microsecond of latency is worth: four times as much, a quarter. */
static void presets_weigh_latency(void)
{
	static const struct {
		uint64_t wait_ns;
		enum ipcwait_preset spins, sleeps;
	} rows[] = {
		{ 25000, IPCWAIT_ADAPTIVE, IPCWAIT_POWER },
		{ 50000, IPCWAIT_LATENCY, IPCWAIT_ADAPTIVE },
		{ 50000, IPCWAIT_LATENCY, IPCWAIT_POWER },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ipcwait_window w[2] = { 0 };

		for (int k = 0; k < 20; k++) {
			iw_window_record(&w[0], rows[i].wait_ns, 0,
					 iw_cost_block_ns(&guest, rows[i].spins));
			iw_window_record(&w[1], rows[i].wait_ns, 0,
					 iw_cost_block_ns(&guest, rows[i].sleeps));
		}
		CHECK(spin_ns(&guest, &w[0], rows[i].spins, 0) > 0);
		CHECK_EQ(spin_ns(&guest, &w[1], rows[i].sleeps, 0), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(set_default_errors),
		CHILD_TEST(precedence),
		CHILD_TEST(environment_reaches_the_facts),
		CHILD_TEST(fixed_preset),
		CHILD_TEST(ceiling),
		CHILD_TEST(jitter),
		CHILD_TEST(jitter_stays_below_2b),
		CHILD_TEST(timed_plan),
		CHILD_TEST(presets_weigh_timers),
		CHILD_TEST(what_a_timed_sleep_may_cost),
		CHILD_TEST(presets_weigh_latency),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
