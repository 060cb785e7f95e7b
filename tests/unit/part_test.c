/* SPDX-License-Identifier: MIT */
/* lib/wait/part.c over a fake kernel: how threads get away from their waker's CPU. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "os/thread.h"
#include "wait/part.h"

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

/* A thread that has found itself beside its waker often enough for a try. */
static void ready(void)
{
	iw_thread.beside = TIMES - 1;
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
	ready();
	CHECK_EQ(beside(START), TRY);
	iw_thread = (struct iw_thread){ 0 };
	CHECK_EQ(beside(START + 2 * MS), TRY - 2 * MS);
	CHECK_EQ(beside(START + TRY - 1), 1);
	CHECK_EQ(beside(START + TRY), 0);
	CHECK_EQ(beside(START + 2 * TRY), 0);
}

/* Twice the time after each that did not help, up to 64 times. */
static void less_often_in_vain(void)
{
	uint64_t now = START;

	fake_reset();
	ready();
	CHECK_EQ(beside(now), TRY);
	for (unsigned tries = 1; tries < 12; tries++) {
		uint64_t interval = INTERVAL << (tries < 6 ? tries : 6);

		now += TRY + interval;
		ready();
		CHECK_EQ(beside(now - 1), 0);
		ready();
		CHECK_EQ(beside(now), TRY);
	}
	/* It helped, this once. */
	iw_part_apart();
	CHECK(!iw_thread.parting);
	now += TRY + INTERVAL;
	ready();
	CHECK_EQ(beside(now - 1), 0);
	ready();
	CHECK_EQ(beside(now), TRY);
	/* Only who has tried can say so. */
	iw_thread = (struct iw_thread){ 0 };
	iw_part_apart();
	now += TRY + INTERVAL;
	ready();
	CHECK_EQ(beside(now), 0);
}

/* A counter that jumped back: no try lasts longer than one. */
static void counter_jumps_back(void)
{
	fake_reset();
	ready();
	CHECK_EQ(beside(START), TRY);
	ready();
	CHECK_EQ(beside(MS), 0);
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
		iw_thread.beside = TIMES - 1;
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
		CHILD_TEST(waits_keep_their_deadline),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
