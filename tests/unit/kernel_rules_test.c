/* SPDX-License-Identifier: MIT */
/* lib/engine over a fake kernel: waits under the kernels' own rules, and how to ask for them. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "policy/sites.h"
#include "policy/window.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

static struct ipcwait_kind_stats counted;

static uint64_t limit(void)
{
	return iw_window_limit_ns(&probe.window);
}

/* A wait that is over @halted_ns after its spin was; what that took. */
static uint64_t halt_for(int64_t halted_ns)
{
	struct ipcwait_stats before = probe_stats();

	probe_again(IPCWAIT_FOREVER);
	fake_script(&(struct fake_step){ .sleep_ns = halted_ns,
					 .meanwhile = probe_stamp_and_appear },
		    1);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(fake.waits, 1);
	CHECK_EQ(probe_why(&before), IPCWAIT_REASON_WINDOW_OVER);
	return probe_counted(&before).spun_wasted_ns;
}

/* A wait that ends in the spin, or in the first looks. */
static void end_after(int64_t ns)
{
	probe_again(IPCWAIT_FOREVER);
	if (ns)
		probe.there_at = fake.now_ns + ns;
	else
		probe.there = true;
	fake_script(NULL, 0);
	CHECK_EQ(iw_wait(&probe.base), 0);
}

/* The rule of mirror_test.c, wait by wait: each spins for the limit that the last has left. */
static void haltpoll_waits(void)
{
	static const struct {
		int64_t halted_us;
		uint64_t limit;
	} rows[] = {
		{ 10, 50000 },   { 30, 50000 },   { 60, 100000 },  { 150, 200000 },
		{ 190, 200000 }, { 250, 100000 }, { 5000, 50000 }, { 5000, 0 },
		{ 5000, 0 },     { 190, 50000 },  { 190, 100000 }, { 300, 50000 },
	};
	uint64_t before = 0;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t spun = halt_for(rows[i].halted_us * US);

		CHECK(spun >= before && spun < before + 1000);
		CHECK_EQ(limit(), rows[i].limit);
		before = rows[i].limit;
	}
}

static void haltpoll_of_the_object(void)
{
	probe_world(IPCWAIT_HALTPOLL, 2);
	haltpoll_waits();
}

static void haltpoll_of_the_program(void)
{
	const struct ipcwait_policy policy = { .preset = IPCWAIT_HALTPOLL };

	CHECK_EQ(ipcwait_policy_set_default(&policy), 0);
	probe_world(IPCWAIT_INHERIT, 2);
	haltpoll_waits();
}

static void haltpoll_of_the_user(void)
{
	CHECK_EQ(setenv("IPCWAIT_POLICY", "haltpoll", 1), 0);
	probe_world(IPCWAIT_INHERIT, 2);
	haltpoll_waits();
}

static void parameters_of_the_user(void)
{
	CHECK_EQ(setenv("IPCWAIT_HALTPOLL", "30000,3,4000,4", 1), 0);
	probe_world(IPCWAIT_HALTPOLL, 2);
	(void)halt_for(1 * US);
	CHECK_EQ(limit(), 4000);
	(void)halt_for(5 * US);
	CHECK_EQ(limit(), 12000);
	(void)halt_for(20 * US);
	CHECK_EQ(limit(), 30000);
	(void)halt_for(100 * US);
	CHECK_EQ(limit(), 7500);
	(void)halt_for(100 * US);
	CHECK_EQ(limit(), 0);
}

/* Waits that it covers leave the limit alone, however many, and in the first looks too. */
static void quick_waits_leave_the_limit(void)
{
	probe_world(IPCWAIT_HALTPOLL, 2);
	(void)halt_for(60 * US);
	CHECK_EQ(limit(), 50000);
	for (int i = 0; i < 100; i++) {
		end_after(i % 2 ? 0 : 20 * US);
		CHECK_EQ(limit(), 50000);
	}
	/* Nor do the same under the preset of the process. */
	CHECK_EQ(ipcwait_window_set_preset(&probe.window, IPCWAIT_INHERIT), 0);
	CHECK_EQ(ipcwait_policy_set_default(
			 &(struct ipcwait_policy){ .preset = IPCWAIT_HALTPOLL }),
		 0);
	for (int i = 0; i < 100; i++) {
		end_after(0);
		CHECK_EQ(limit(), 50000);
	}
}

/* An object that has learned otherwise before: its histogram is no limit. */
static void after_another_preset(void)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	probe_teach(60, IW_BIN_LONG);
	CHECK_EQ(ipcwait_window_set_preset(&probe.window, IPCWAIT_HALTPOLL), 0);
	CHECK(halt_for(10 * MS) < 201000);
	CHECK_EQ(limit(), 100000);
	(void)halt_for(10 * MS);
	(void)halt_for(10 * MS);
	CHECK_EQ(limit(), 0);
	/* And back: it knows what it will, and goes on learning. */
	CHECK_EQ(ipcwait_window_set_preset(&probe.window, IPCWAIT_ADAPTIVE), 0);
	for (int i = 0; i < 40; i++) {
		probe_again(IPCWAIT_FOREVER);
		(void)probe_wait(&counted);
	}
	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_LEARNED_LONG);
}

static void ticks_waits(void)
{
	uint64_t least = UINT64_MAX, most = 0;

	fake.step_ns = 1000;
	for (int i = 0; i < 100; i++) {
		uint64_t spun = halt_for(10 * MS + i * 7919);

		least = spun < least ? spun : least;
		most = spun > most ? spun : most;
		CHECK_EQ(probe.window.bins.v, 0);
	}
	CHECK(least >= 2 * (uint64_t)MS && least < 2300000);
	CHECK(most > 2700000 && most < 3002000);
	/* What comes in time is caught, and nothing is charged for what was not. */
	probe_again(IPCWAIT_FOREVER);
	probe.there_at = fake.now_ns + 1900 * US;
	CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_NONE);
	CHECK_EQ(iw_thread.credit_full_at, 0);
}

static void ticks_of_the_object(void)
{
	probe_world(IPCWAIT_TICKS, 2);
	ticks_waits();
}

static void ticks_of_the_program(void)
{
	const struct ipcwait_policy policy = { .preset = IPCWAIT_TICKS };

	CHECK_EQ(ipcwait_policy_set_default(&policy), 0);
	probe_world(IPCWAIT_INHERIT, 2);
	ticks_waits();
}

static void ticks_of_the_user(void)
{
	CHECK_EQ(setenv("IPCWAIT_POLICY", "ticks", 1), 0);
	probe_world(IPCWAIT_INHERIT, 2);
	ticks_waits();
}

/* Nobody else learns from their waits. */
static void sites_are_left_alone(void)
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_HALTPOLL, IPCWAIT_TICKS,
						       IPCWAIT_SPIN, IPCWAIT_BLOCK };

	for (unsigned i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		probe_world(presets[i], 2);
		for (int k = 0; k < 20; k++) {
			probe_again(IPCWAIT_FOREVER);
			(void)probe_wait(&counted);
			end_after(0);
		}
		CHECK_EQ(
			iw_sites_before(&iw_sites, (struct iw_site){ 0, IPCWAIT_KIND_SEM }),
			0);
	}
}

/* A wait that a spin could end is still ended by its deadline. */
static void deadlines_hold(void)
{
	static const struct fake_step expire[] = { { .result = -ETIMEDOUT } };

	probe_world(IPCWAIT_TICKS, 2);
	probe_again(fake.now_ns + 500 * US);
	FAKE_SCRIPT(expire);
	CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
	CHECK(llabs(fake.now_ns - probe.base.deadline_ns) < 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(haltpoll_of_the_object),
		CHILD_TEST(haltpoll_of_the_program),
		CHILD_TEST(haltpoll_of_the_user),
		CHILD_TEST(parameters_of_the_user),
		CHILD_TEST(quick_waits_leave_the_limit),
		CHILD_TEST(after_another_preset),
		CHILD_TEST(ticks_of_the_object),
		CHILD_TEST(ticks_of_the_program),
		CHILD_TEST(ticks_of_the_user),
		CHILD_TEST(sites_are_left_alone),
		CHILD_TEST(deadlines_hold),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_HALTPOLL");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
