/* SPDX-License-Identifier: MIT */
/* lib/policy/place.c: how threads get away from their waker's CPU. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "policy/place.h"

#define US       UINT64_C(1000)
#define MS       UINT64_C(1000000)
#define START    (1000 * MS)
#define TIMES    16
#define LONG     (200 * MS) /* beside its waker, before it tries */
#define TRY      (8 * MS)
#define INTERVAL (200 * MS)

/* Ticks are nanoseconds. */
static const struct iw_facts facts = {
	.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
};

static struct iw_beside self;

static uint64_t beside(uint64_t now)
{
	return iw_place_beside(&facts, &self, now);
}

/* A thread that has found itself beside its waker for long enough for a try at @now. */
static void ready(uint64_t now)
{
	self.times = 10000;
	self.since = now - LONG;
}

/* A thread that hands over each 100 us beside its waker. Returns when it tries first. */
static uint64_t first_try(uint64_t now, uint64_t until)
{
	while (now < until && !beside(now))
		now += 100 * US;
	return now;
}

static void only_after_200_ms(void)
{
	uint64_t at = first_try(START, START + 1000 * MS);

	CHECK(at >= START + LONG && at <= START + LONG + 100 * US);
	/* Apart just once, and it begins anew. */
	self = (struct iw_beside){ 0 };
	at += 100 * INTERVAL;
	CHECK_EQ(first_try(at, at + LONG - MS), at + LONG - MS);
	iw_place_apart(&self);
	at += LONG;
	CHECK_EQ(first_try(at, at + LONG - MS), at + LONG - MS);
}

/* One that begins and ends beside its waker within that time costs nothing. */
static void short_lives_do_not_try(void)
{
	for (unsigned i = 0; i < 100; i++) {
		uint64_t now = START + i * INTERVAL * 10;

		self = (struct iw_beside){ 0 };
		CHECK_EQ(first_try(now, now + LONG - MS), now + LONG - MS);
	}
}

/* All spin until the same moment, however late they come. */
static void others_join(void)
{
	ready(START);
	CHECK_EQ(beside(START), TRY);
	self = (struct iw_beside){ 0 };
	CHECK_EQ(beside(START + 2 * MS), 0);
	CHECK_EQ(beside(START + 2 * MS), TRY - 2 * MS);
	ready(START + TRY - 1);
	CHECK_EQ(beside(START + TRY - 1), 1);
	CHECK_EQ(beside(START + TRY), 0);
	CHECK_EQ(beside(START + 2 * TRY), 0);
}

/* Twice the time after each that did not help, up to 64 times. */
static void less_often_in_vain(void)
{
	uint64_t now = START;

	ready(now);
	CHECK_EQ(beside(now), TRY);
	for (unsigned tries = 1; tries < 12; tries++) {
		uint64_t interval = INTERVAL << (tries < 6 ? tries : 6);

		now += TRY + interval;
		ready(now - 1);
		CHECK_EQ(beside(now - 1), 0);
		ready(now);
		CHECK_EQ(beside(now), TRY);
	}
	/* It helped, this once. */
	iw_place_apart(&self);
	CHECK(!self.parting);
	now += TRY + INTERVAL;
	ready(now - 1);
	CHECK_EQ(beside(now - 1), 0);
	ready(now);
	CHECK_EQ(beside(now), TRY);
	/* Only who has tried can say so. */
	self = (struct iw_beside){ 0 };
	iw_place_apart(&self);
	now += TRY + INTERVAL;
	ready(now);
	CHECK_EQ(beside(now), 0);
}

/* A counter that jumped back: no try lasts longer than one. */
static void counter_jumps_back(void)
{
	ready(START);
	CHECK_EQ(beside(START), TRY);
	ready(300 * MS);
	CHECK_EQ(beside(300 * MS), 0);
}

/* 16 times in 4 ms are often, in more they are not: the waits are too long to gain much. */
static void only_who_waits_often(void)
{
	uint64_t now = START;

	for (unsigned i = 0; i < 1000 * TIMES; i++)
		CHECK_EQ(beside(now += MS / 3), 0);
	/* Nor do they join. */
	ready(now);
	CHECK_EQ(beside(now), TRY);
	self = (struct iw_beside){ 0 };
	CHECK_EQ(beside(now + MS), 0);
	CHECK_EQ(beside(now + 2 * MS), 0);
}

static const struct fake_step expire[] = { { .result = -ETIMEDOUT } };

/* A wait beside its waker that is long enough so for a try. Returns what it spun in vain. */
static uint64_t wait_beside(enum ipcwait_preset preset, int64_t deadline)
{
	uint64_t spun = probe_counters().spun_wasted_ns;

	CHECK_EQ(ipcwait_window_set_preset(&probe.window, preset), 0);
	probe_again(deadline);
	probe.window.bins.v = 0;
	iw_window_put_stamp(&probe.window, 1000, fake.cpu);
	iw_thread.beside.times = 10000;
	iw_thread.beside.since = (uint64_t)fake.now_ns - LONG;
	FAKE_SCRIPT(expire);
	CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
	return probe_counters().spun_wasted_ns - spun;
}

/* A wait that spins to part ends with its deadline, and is charged nothing. */
static void waits_keep_their_deadline(void)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	CHECK(iw_facts() != NULL);
	fake.step_ns = 1000;
	for (int i = 0; i < 2; i++) {
		int64_t deadline = fake.now_ns + (i ? 20000000 : 1000000);

		(void)wait_beside(IPCWAIT_ADAPTIVE, deadline);
		/* The first has 1 ms, the second all of a try; its time has not come. */
		CHECK(i || llabs(fake.now_ns - deadline) < 10000);
		CHECK(!i || fake.now_ns < deadline - 10000000);
		CHECK_EQ(iw_thread.credit_full_at, 0);
	}
}

/* Longer than any window: not against anybody's wish. */
static void not_against_the_users_wish(void)
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_POWER, IPCWAIT_BLOCK };
	const struct ipcwait_policy ceiling = { .max_spin_us = 200 };

	for (unsigned i = 0; i < 2; i++) {
		probe_world(presets[i], 2);
		CHECK_EQ(wait_beside(presets[i], IPCWAIT_FOREVER), 0);
	}
	CHECK_EQ(ipcwait_policy_set_default(&ceiling), 0);
	probe_world(IPCWAIT_ADAPTIVE, 2);
	CHECK_EQ(wait_beside(IPCWAIT_ADAPTIVE, IPCWAIT_FOREVER), 0);
	CHECK_EQ(ipcwait_policy_set_default(&(struct ipcwait_policy){ 0 }), 0);
	CHECK(wait_beside(IPCWAIT_LATENCY, IPCWAIT_FOREVER) >= TRY - MS);
}

static void not_without_credit_to_spend(void)
{
	CHECK_EQ(setenv("IPCWAIT_SPIN_BUDGET", "0", 1), 0);
	probe_world(IPCWAIT_ADAPTIVE, 2);
	CHECK_EQ(wait_beside(IPCWAIT_ADAPTIVE, IPCWAIT_FOREVER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(only_after_200_ms),
		CHILD_TEST(short_lives_do_not_try),
		CHILD_TEST(others_join),
		CHILD_TEST(less_often_in_vain),
		CHILD_TEST(counter_jumps_back),
		CHILD_TEST(only_who_waits_often),
		CHILD_TEST(waits_keep_their_deadline),
		CHILD_TEST(not_against_the_users_wish),
		CHILD_TEST(not_without_credit_to_spend),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
