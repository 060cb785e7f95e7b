/* SPDX-License-Identifier: MIT */
/*
 * lib/engine/wait.c and sleep.c over a scripted kernel: what a primitive says about looking on and
 * about its rest.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "common/ticking.h"
#include "engine/plan.h"
#include "engine/sleep.h"
#include "policy/cost.h"

/* A look that finds it is of no use to look on ends the spin, whatever its window is. */
static void looks_that_end_the_spin(void)
{
	static const struct {
		enum iw_seen seen;
		enum ipcwait_reason why;
	} cases[] = {
		{ IW_AWAY_CROWDED, IPCWAIT_REASON_CROWDED },
		{ IW_AWAY_OVERTAKEN, IPCWAIT_REASON_OVERTAKEN },
	};

	for (unsigned i = 0; i < 2; i++) {
		const struct fake_step script[] = { { 0 }, { .meanwhile = probe_appear } };
		struct ipcwait_stats before;

		probe_world(IPCWAIT_SPIN, 2);
		before = probe_stats();
		probe.away = cases[i].seen;
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		/* One before the first sleep, one after each. */
		CHECK_EQ(probe.looks, 3);
		CHECK_EQ(probe_why(&before), cases[i].why);
	}
}

/* A handler that runs between looks leaves no trace, so there are none before the sleep. */
static void interruptible_waits_sleep_at_once(void)
{
	for (enum ipcwait_preset p = IPCWAIT_ADAPTIVE; p <= IPCWAIT_TICKS; p++) {
		const struct fake_step script[] = { { 0 }, { .meanwhile = probe_appear } };
		struct ipcwait_stats before;

		probe_world(p, 2);
		before = probe_stats();
		probe.base.interruptible = true;
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		/* One after each sleep. */
		CHECK_EQ(probe.looks, 2);
		CHECK(fake.wait.deadline_ns == IPCWAIT_FOREVER - 1);
		CHECK_EQ(probe_why(&before), IPCWAIT_REASON_INTERRUPTIBLE);
		CHECK_EQ(iw_self()->alone, 0);
	}
}

/* What an alarm finds may have been there since the beginning of the sleep: nothing is learned. */
static void an_alarm_teaches_nothing(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .sleep_ns = 1000000 * US,
					      .meanwhile = probe_appear } };
	uint64_t samples;

	probe_world(IPCWAIT_ADAPTIVE, 2);
	probe.base.mortal = true;
	samples = iw_cost_samples();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(!probe.base.woken);
	CHECK_EQ(iw_cost_samples(), samples);
	probe_learned_nothing();
}

static uint64_t wasted_ns(void)
{
	return probe_counters().spun_wasted_ns;
}

static uint64_t wasted_before;

static void note_waste_and_appear(void)
{
	wasted_before = wasted_ns() - wasted_before;
	probe_appear();
}

static void note_waste(void)
{
	wasted_before = wasted_ns();
}

/* After a sleep in vain: the window, a time of its own, or not at all. */
static void spins_after_a_sleep(void)
{
	const struct fake_step script[] = { { .meanwhile = note_waste },
					    { .meanwhile = note_waste_and_appear } };

	for (unsigned i = 0; i < 3; i++) {
		probe_world(IPCWAIT_SPIN, 2);
		probe.rest.spin_ns = i == 1 ? 1000 : 0;
		probe.rest.may_spin = i < 2;
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK(i != 0 || wasted_before >= (uint64_t)(2 * PROBE_BLOCK_NS));
		CHECK(i != 1 || (wasted_before >= 1000 && wasted_before < 2000));
		CHECK(i != 2 || wasted_before == 0);
	}
}

static uint64_t wasted_after[5];
static unsigned sleeps;

static void note_each(void)
{
	wasted_after[sleeps++] = wasted_ns();
}

static void note_each_and_appear(void)
{
	note_each();
	probe_appear();
}

/*
 * Where waits are known to be long a waiter does not spin. One that is overdue spins for B after a
 * wake if another has taken what it was woken for; and not again until it has waited for longer.
 */
static void an_overdue_one_looks_on(void)
{
	const struct fake_step script[] = {
		{ .meanwhile = note_each, .sleep_ns = 900 * US },
		{ .meanwhile = note_each, .sleep_ns = 200 * US },
		{ .meanwhile = note_each },
		/* Not woken: its own time was over. */
		{ .meanwhile = note_each, .sleep_ns = 200 * US, .result = -ETIMEDOUT },
		{ .meanwhile = note_each_and_appear },
	};

	probe_world(IPCWAIT_ADAPTIVE, 2);
	probe_teach(40, IW_BIN_LONG);
	probe.rest.until_ns = fake.now_ns + 5000 * US;
	sleeps = 0;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(sleeps, 5);
	CHECK_EQ(wasted_after[1], wasted_after[0]);
	CHECK(wasted_after[2] - wasted_after[1] >= (uint64_t)PROBE_BLOCK_NS);
	CHECK(wasted_after[2] - wasted_after[1] < (uint64_t)(3 * PROBE_BLOCK_NS / 2));
	CHECK_EQ(wasted_after[3], wasted_after[2]);
	CHECK_EQ(wasted_after[4], wasted_after[2]);
}

/* It is overdue after 1 ms at least, and after 20 B where that is longer. */
static void when_it_is_overdue(void)
{
	struct iw_waiter me = { .block_ns = 10000 };

	CHECK_EQ(iw_plan_overdue_ns(&me, 999999, 0), 0);
	CHECK_EQ(iw_plan_overdue_ns(&me, 1000000, 0), 10000);
	CHECK_EQ(iw_plan_overdue_ns(&me, 1000000, 40000), 10000);
	CHECK_EQ(iw_plan_overdue_ns(&me, 1000000, 40001), 0);
	me.block_ns = 100000;
	CHECK_EQ(iw_plan_overdue_ns(&me, 1999999, 0), 0);
	CHECK_EQ(iw_plan_overdue_ns(&me, 2000000, 0), 100000);
}

static void sleeps_as_told(void)
{
	const struct fake_step script[] = { { .meanwhile = probe_appear } };
	static uint32_t other = 7;

	probe_world(IPCWAIT_BLOCK, 2);
	probe.rest = iw_rest_on(&other, 7);
	probe.rest.bits = 4;
	probe.base.private_ = true;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(fake.wait.word == &other);
	CHECK_EQ(fake.wait.value, 7);
	CHECK_EQ(fake.wait.bits, 4);
	CHECK(fake.wait.private_);
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
}

static void expire(void)
{
	fake.now_ns = fake.wait.deadline_ns;
}

static void expire_in_time(void)
{
	CHECK_EQ(fake.wait.deadline_ns, probe.rest.until_ns);
	expire();
	probe.rest.until_ns = IPCWAIT_FOREVER;
}

/* The primitive's time ends the sleep, and not the wait. */
static void own_time_ends_the_sleep(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = expire_in_time },
		{ .meanwhile = probe_appear },
	};

	probe_world(IPCWAIT_BLOCK, 2);
	probe_again(fake.now_ns + 900 * US);
	probe.rest.until_ns = fake.now_ns + 300 * US;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 2);
	CHECK_EQ(probe.withdraws, 0);
	CHECK_EQ(fake.wait.deadline_ns, probe.base.deadline_ns);
}

static void deadline_before_its_own_time(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT, .meanwhile = expire } };

	probe_world(IPCWAIT_BLOCK, 2);
	probe_again(fake.now_ns + 300 * US);
	probe.rest.until_ns = fake.now_ns + 301 * US;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
	CHECK_EQ(fake.wait.deadline_ns, probe.base.deadline_ns);
	CHECK_EQ(probe.withdraws, 1);
}

/* A timer of the engine's never puts off what the primitive wants to see to. */
static void own_time_before_the_timer(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = expire_in_time },
		{ .meanwhile = probe_appear },
	};
	struct ipcwait_kind_stats before = probe_counters();

	ticking_world(0);
	probe.rest.until_ns = ticking.begin + 300 * US;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	/* It only looked, and sleeps on until it is woken. */
	CHECK_EQ(probe.withdraws, 0);
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
	CHECK_EQ(probe_counters().timed_sleeps, before.timed_sleeps);
}

static void own_time_after_the_timer(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = ticking_expire },
		{ .result = -ETIMEDOUT, .meanwhile = expire_in_time },
		{ .meanwhile = probe_appear },
	};

	ticking_world(0);
	probe.rest.until_ns = ticking.begin + 3 * TICK_NS;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.withdraws, 1);
	CHECK_EQ(probe.settles, 3);
}

/* It would only end a sleep for the sake of a spin. */
static void no_timer_where_it_may_not_spin(void)
{
	const struct fake_step script[] = { { .sleep_ns = TICK_NS,
					      .meanwhile = probe_stamp_and_appear } };

	ticking_world(0);
	probe.rest.may_spin = false;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
}

static void expire_unpublished(void)
{
	CHECK(fake.wait.word != &probe.word);
	CHECK(ticking_soon_after(fake.now_ns + 1000 * US, fake.wait.deadline_ns));
	CHECK_EQ(iw_sleepers_unpublished(), 1);
	expire();
	probe.full = fake.waits < 2;
}

/* It looks again each millisecond, and what it sleeps is part of the wait. */
static void unpublished(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = expire_unpublished },
		{ .result = -ETIMEDOUT, .meanwhile = expire_unpublished },
		{ .sleep_ns = 10 * US, .meanwhile = probe_appear },
	};
	struct ipcwait_kind_stats before = probe_counters();

	probe_world(IPCWAIT_ADAPTIVE, 2);
	probe_teach(20, IW_BIN_LONG);
	probe.full = true;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 3);
	CHECK(fake.wait.word == &probe.word);
	CHECK(probe_counters().slept_ns - before.slept_ns >= (uint64_t)(2010 * US));
	probe_learned_once(2010 * US);
	CHECK_EQ(iw_sleepers_unpublished(), 0);
}

static void unpublished_until_the_deadline(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT, .meanwhile = expire } };

	probe_world(IPCWAIT_BLOCK, 2);
	probe_again(fake.now_ns + 300 * US);
	probe.full = true;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
	CHECK_EQ(fake.wait.deadline_ns, probe.base.deadline_ns);
}

static void expire_and_appear(void)
{
	expire();
	probe_appear();
}

/* What has published nothing is looked for once more. */
static void nothing_to_withdraw(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .meanwhile = expire_and_appear } };
	struct iw_waitable silent;

	probe_world(IPCWAIT_BLOCK, 2);
	probe_again(fake.now_ns + 300 * US);
	silent = *probe.base.what;
	silent.withdraw = NULL;
	probe.base.what = &silent;
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.looks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(looks_that_end_the_spin),
		CHILD_TEST(interruptible_waits_sleep_at_once),
		CHILD_TEST(an_alarm_teaches_nothing),
		CHILD_TEST(spins_after_a_sleep),
		CHILD_TEST(an_overdue_one_looks_on),
		CHILD_TEST(when_it_is_overdue),
		CHILD_TEST(sleeps_as_told),
		CHILD_TEST(own_time_ends_the_sleep),
		CHILD_TEST(deadline_before_its_own_time),
		CHILD_TEST(own_time_before_the_timer),
		CHILD_TEST(own_time_after_the_timer),
		CHILD_TEST(no_timer_where_it_may_not_spin),
		CHILD_TEST(unpublished),
		CHILD_TEST(unpublished_until_the_deadline),
		CHILD_TEST(nothing_to_withdraw),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
