/* SPDX-License-Identifier: MIT */
/* lib/policy/policy.c: which preset holds, and how long it lets a waiter spin. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "env/facts.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "policy/window.h"
#include "engine/plan.h"
#include "engine/wait.h"

#define GUEST_B 30000

/* Ticks are nanoseconds. */
static const struct iw_facts guest = {
	.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
	.virtual_machine = true,
};

/* As iw_wait() fills in a waiter. */
static struct iw_waiter waiter(const struct iw_facts *facts, struct ipcwait_window *w,
			       enum ipcwait_preset preset)
{
	static const struct iw_waitable sem = { .kind = IPCWAIT_KIND_SEM,
						.resumable = true };
	uint32_t state = iw_window_state(w);

	return (struct iw_waiter){
		.what = &sem,
		.window = w,
		.preset = preset,
		.facts = facts,
		.state = state,
		.share = iw_state_known(state) ? iw_state_share(state)
					       : iw_window_young_share(w, 0),
		.block_ns = iw_cost_block_ns(facts, preset),
	};
}

static uint64_t spin_ns(const struct iw_facts *facts, struct ipcwait_window *w,
			enum ipcwait_preset preset)
{
	struct iw_waiter me = waiter(facts, w, preset);

	return iw_plan_window_ns(&me, 0);
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
			 &(struct ipcwait_policy){ .reserved = { 0, 0, 1 } }),
		 -EINVAL);
	CHECK_EQ(set_default((enum ipcwait_preset)8, 0), -EINVAL);
	CHECK_EQ(set_default((enum ipcwait_preset) - 1, 0), -EINVAL);
	CHECK_EQ(set_default((enum ipcwait_preset)256, 0), -EINVAL);
	CHECK_EQ(set_default(IPCWAIT_SPIN, 100001), -EINVAL);
	CHECK_EQ(set_default(IPCWAIT_SPIN, UINT32_MAX), -EINVAL);
	CHECK_EQ(errno, 4711);
	/* None of the failures changed anything. */
	CHECK_EQ(iw_policy_default_preset(&guest), IPCWAIT_POWER);
	CHECK_EQ(set_default(IPCWAIT_BLOCK, 100000), 0);
	CHECK_EQ(iw_policy_default_preset(&guest), IPCWAIT_BLOCK);
	CHECK_EQ(set_default(IPCWAIT_TICKS, 0), 0);
	CHECK_EQ(iw_policy_default_preset(&guest), IPCWAIT_TICKS);
	CHECK_EQ(set_default(IPCWAIT_INHERIT, 0), 0);
	CHECK_EQ(iw_policy_default_preset(&guest), IPCWAIT_ADAPTIVE);
}

static enum ipcwait_preset preset_of(const struct iw_facts *facts,
				     const struct ipcwait_window *w)
{
	return iw_policy_preset(facts, iw_window_state(w));
}

static void precedence(void)
{
	struct iw_facts user = guest;
	struct ipcwait_window w = { 0 };

	CHECK_EQ(preset_of(&guest, &w), IPCWAIT_ADAPTIVE);
	CHECK_EQ(set_default(IPCWAIT_POWER, 0), 0);
	CHECK_EQ(preset_of(&guest, &w), IPCWAIT_POWER);
	user.config.preset = IPCWAIT_LATENCY;
	CHECK_EQ(preset_of(&user, &w), IPCWAIT_LATENCY);
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_BLOCK), 0);
	CHECK_EQ(preset_of(&user, &w), IPCWAIT_BLOCK);
	/* Back down, step by step. */
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_INHERIT), 0);
	CHECK_EQ(preset_of(&user, &w), IPCWAIT_LATENCY);
	user.config.preset = IPCWAIT_INHERIT;
	CHECK_EQ(preset_of(&user, &w), IPCWAIT_POWER);
	/* ADAPTIVE on the object is a choice, not the absence of one. */
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_ADAPTIVE), 0);
	CHECK_EQ(preset_of(&user, &w), IPCWAIT_ADAPTIVE);
}

static void environment_reaches_the_facts(void)
{
	struct ipcwait_window w = { 0 };

	CHECK(setenv("IPCWAIT_POLICY", "latency", 1) == 0);
	CHECK(setenv("IPCWAIT_MAX_SPIN_US", "3", 1) == 0);
	CHECK_EQ(set_default(IPCWAIT_POWER, 100), 0);
	CHECK_EQ(preset_of(iw_facts(), &w), IPCWAIT_LATENCY);
	CHECK_EQ(spin_ns(iw_facts(), &w, IPCWAIT_SPIN), 3000);
}

/* BLOCK never comes here: see iw_plan(). */
static void fixed_preset(void)
{
	struct ipcwait_window w = { { UINT64_MAX }, { 0 }, { 0xfff8 } };

	for (int i = 0; i < 100; i++)
		CHECK_EQ(spin_ns(&guest, &w, IPCWAIT_SPIN), 2 * GUEST_B);
}

static void ceiling(void)
{
	struct iw_facts user = guest;
	struct ipcwait_window w = { 0 };

	CHECK_EQ(set_default(IPCWAIT_INHERIT, 10), 0);
	CHECK_EQ(spin_ns(&user, &w, IPCWAIT_SPIN), 10000);
	CHECK(spin_ns(&user, &w, IPCWAIT_ADAPTIVE) <= 10000);
	user.config.max_spin_us = 40;
	CHECK_EQ(spin_ns(&user, &w, IPCWAIT_SPIN), 40000);
	user.config.max_spin_us = 100000;
	CHECK_EQ(spin_ns(&user, &w, IPCWAIT_SPIN), 2 * GUEST_B);
	/* A dear wake-up: 200 us are enough all the same, unless somebody allows more. */
	for (int i = 0; i < 32; i++) {
		iw_cost_note_latency(450000);
		iw_cost_note_waker(150000);
	}
	CHECK_EQ(set_default(IPCWAIT_INHERIT, 0), 0);
	CHECK_EQ(spin_ns(&guest, &w, IPCWAIT_SPIN), 200000);
	CHECK(spin_ns(&guest, &w, IPCWAIT_LATENCY) <= 200000);
	CHECK_EQ(spin_ns(&user, &w, IPCWAIT_SPIN), 2 * 600000);
}

/* After waits of a millisecond, or of about so much. */
static void regular_waits(struct ipcwait_window *w, uint64_t off_ns)
{
	for (unsigned i = 0; i < 40; i++)
		iw_window_record(w, IW_BIN_LONG, 1, 1000000 + i % 2 * off_ns);
}

static bool timed(struct ipcwait_window *w, enum ipcwait_preset preset,
		  struct iw_timed_plan *plan)
{
	struct iw_waiter me = waiter(&guest, w, preset);

	return iw_plan_timed(&me, 0, plan);
}

/* Both spins of a timed sleep. */
static void timed_plan(void)
{
	struct ipcwait_window w = { 0 };
	struct iw_waiter me = waiter(&guest, &w, IPCWAIT_LATENCY);
	struct iw_timed_plan plan;

	regular_waits(&w, 4000);
	CHECK(timed(&w, IPCWAIT_LATENCY, &plan));
	CHECK_EQ(plan.spin_ns, me.block_ns * 7 / 4 - iw_cost_timer(&guest).cpu_ns);
	/* After a first spin that has used it up there is no sense in the timer. */
	CHECK(!iw_plan_timed(&me, me.block_ns * 7 / 4, &plan));
}

/* A timer is for those to whom latency is dear, however exact it is. */
static void presets_weigh_timers(void)
{
	struct ipcwait_window w = { 0 };
	struct iw_timed_plan plan;

	regular_waits(&w, 0);
	for (unsigned exact = 0; exact < 2; exact++) {
		for (unsigned p = IPCWAIT_INHERIT; p <= IPCWAIT_TICKS; p++)
			CHECK_EQ(timed(&w, (enum ipcwait_preset)p, &plan),
				 p == IPCWAIT_LATENCY);
		for (int i = 0; i < 32; i++)
			iw_cost_note_timer(5000);
	}
}

/* Nor where a waiter must stay asleep until it is woken. */
static void only_what_resumes_is_timed(void)
{
	static const struct iw_waitable fixed = { .kind = IPCWAIT_KIND_FUTEX };
	struct ipcwait_window w = { 0 };
	struct iw_waiter me = waiter(&guest, &w, IPCWAIT_LATENCY);
	struct iw_timed_plan plan;

	regular_waits(&w, 0);
	CHECK(iw_plan_timed(&me, 0, &plan));
	me.what = &fixed;
	CHECK(!iw_plan_timed(&me, 0, &plan));
}

/* B less the latency: to LATENCY the waker's share and three latencies. */
static void what_a_timed_sleep_may_cost(void)
{
	struct ipcwait_window w = { 0 };
	unsigned planned = 0;

	regular_waits(&w, 2000);
	for (uint64_t waker_ns = 500; waker_ns < 20000; waker_ns += 250) {
		struct iw_timed_plan plan;
		bool is_planned, cheap;

		for (int i = 0; i < 160; i++) {
			iw_cost_note_latency(2000);
			iw_cost_note_waker(waker_ns);
		}
		is_planned = timed(&w, IPCWAIT_LATENCY, &plan);
		cheap = plan.sleep.cost_ns < waker_ns + 3 * UINT64_C(2000);
		CHECK_EQ(is_planned, cheap);
		planned += cheap;
	}
	CHECK(planned > 5 && planned < 78);
}

static unsigned bin_for(uint64_t wait_ns, enum ipcwait_preset preset)
{
	return iw_bin_of(wait_ns, iw_cost_block_ns(&guest, preset));
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
			iw_window_record(&w[0], bin_for(rows[i].wait_ns, rows[i].spins), 1,
					 0);
			iw_window_record(&w[1], bin_for(rows[i].wait_ns, rows[i].sleeps), 1,
					 0);
		}
		CHECK(spin_ns(&guest, &w[0], rows[i].spins) > 0);
		CHECK_EQ(spin_ns(&guest, &w[1], rows[i].sleeps), 0);
	}
}

/* Those that nobody can wake: the first looks are early, and all together are not more often. */
static void sleepers_look_in_turn(void)
{
	static const uint32_t sleepers[] = { 1, 2, 3, 277, 100000, UINT32_MAX };
	const int64_t ms = 1000000;

	CHECK_EQ(iw_policy_look_ns(0, 0), ms);
	for (unsigned i = 0; i < sizeof(sleepers) / sizeof(sleepers[0]); i++) {
		int64_t n = sleepers[i], last = 0, ns = iw_policy_look_ns(0, (uint32_t)n);

		CHECK_EQ(ns, ms);
		while (ns != last) {
			last = ns;
			ns = iw_policy_look_ns(last, (uint32_t)n);
			CHECK(ns == last || ns == 2 * last || ns == (2 * n - 1) * ms);
		}
		CHECK_EQ(last, (2 * n - 1) * ms);
	}
	/* What it has slept without a place is no alarm when it gets one. */
	CHECK_EQ(iw_policy_alarm_ns(4 * ms), iw_policy_alarm_ns(0));
	CHECK_EQ(iw_policy_alarm_ns(1000 * ms), 2000 * ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(set_default_errors),
		CHILD_TEST(precedence),
		CHILD_TEST(environment_reaches_the_facts),
		CHILD_TEST(fixed_preset),
		CHILD_TEST(ceiling),
		CHILD_TEST(timed_plan),
		CHILD_TEST(presets_weigh_timers),
		CHILD_TEST(only_what_resumes_is_timed),
		CHILD_TEST(what_a_timed_sleep_may_cost),
		CHILD_TEST(presets_weigh_latency),
		CHILD_TEST(sleepers_look_in_turn),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	iw_facts_forget();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
