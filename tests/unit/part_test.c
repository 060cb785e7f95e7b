/* SPDX-License-Identifier: MIT */
/* lib/policy/part.c over a fake kernel: how threads get away from their waker's CPU. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "os/thread.h"
#include "policy/part.h"

#define MS       UINT64_C(1000000)
#define START    (1000 * MS)
#define TIMES    16
#define TRY      (8 * MS)
#define INTERVAL (200 * MS)

/* Ticks are nanoseconds. */
static const struct iw_facts facts = {
	.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
};

static uint64_t beside(uint64_t now)
{
	return iw_part_beside(&facts, now);
}

/* A thread that has found itself beside its waker often enough for a try at @now. */
static void ready(uint64_t now)
{
	iw_thread.beside = TIMES - 1;
	iw_thread.beside_since = now - MS;
}

static void after_16_times_in_a_row(void)
{
	fake_reset();
	for (int i = 1; i < TIMES; i++)
		CHECK_EQ(beside(START), 0);
	iw_part_apart();
	for (int i = 1; i < TIMES; i++)
		CHECK_EQ(beside(START), 0);
	CHECK_EQ(beside(START), TRY);
}

/* All spin until the same moment, however late they come. */
static void others_join(void)
{
	fake_reset();
	ready(START);
	CHECK_EQ(beside(START), TRY);
	iw_thread = (struct iw_thread){ 0 };
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

	fake_reset();
	ready(now);
	CHECK_EQ(beside(now), TRY);
	for (unsigned tries = 1; tries < 12; tries++) {
		uint64_t interval = INTERVAL << (tries < 6 ? tries : 6);

		now += TRY + interval;
		ready(now);
		CHECK_EQ(beside(now - 1), 0);
		ready(now);
		CHECK_EQ(beside(now), TRY);
	}
	/* It helped, this once. */
	iw_part_apart();
	CHECK(!iw_thread.parting);
	now += TRY + INTERVAL;
	ready(now);
	CHECK_EQ(beside(now - 1), 0);
	ready(now);
	CHECK_EQ(beside(now), TRY);
	/* Only who has tried can say so. */
	iw_thread = (struct iw_thread){ 0 };
	iw_part_apart();
	now += TRY + INTERVAL;
	ready(now);
	CHECK_EQ(beside(now), 0);
}

/* A counter that jumped back: no try lasts longer than one. */
static void counter_jumps_back(void)
{
	fake_reset();
	ready(START);
	CHECK_EQ(beside(START), TRY);
	ready(2 * MS);
	CHECK_EQ(beside(2 * MS), 0);
}

/* 16 times in 4 ms are often, in more they are not: the waits are too long to gain much. */
static void only_who_waits_often(void)
{
	uint64_t now = START;

	fake_reset();
	for (unsigned i = 0; i < 10 * TIMES; i++)
		CHECK_EQ(beside(now += MS / 3), 0);
	/* Nor do they join. */
	ready(now);
	CHECK_EQ(beside(now), TRY);
	iw_thread = (struct iw_thread){ 0 };
	CHECK_EQ(beside(now + MS), 0);
	CHECK_EQ(beside(now + 2 * MS), 0);
	fake_reset();
	now += TRY;
	for (unsigned i = 1; i < TIMES; i++)
		CHECK_EQ(beside(now += MS / 5), 0);
	now += 100 * INTERVAL;
	iw_thread.beside_since += 100 * INTERVAL;
	CHECK_EQ(beside(now), TRY);
}

/* A wait that spins to part ends with its deadline, needs no licence and is charged nothing. */
static void waits_keep_their_deadline(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT } };
	int64_t deadline;

	probe_world(IPCWAIT_ADAPTIVE, 2);
	CHECK(iw_facts() != NULL);
	fake.step_ns = 1000;
	for (int i = 0; i < 2; i++) {
		deadline = fake.now_ns + (i ? 20000000 : 1000000);
		probe_again(deadline);
		probe.window.bins.v = probe.window.state.v = 0;
		iw_window_put_stamp(&probe.window, 1000, fake.cpu);
		ready((uint64_t)fake.now_ns);
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
		/* The first has 1 ms, the second all of a try; its time has not come. */
		CHECK(i || llabs(fake.now_ns - deadline) < 10000);
		CHECK(!i || fake.now_ns < deadline - 10000000);
		CHECK_EQ(iw_thread.full_at, 0);
		CHECK_EQ(iw_thread.harm, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(after_16_times_in_a_row),   CHILD_TEST(others_join),
		CHILD_TEST(less_often_in_vain),        CHILD_TEST(counter_jumps_back),
		CHILD_TEST(waits_keep_their_deadline), CHILD_TEST(only_who_waits_often),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
