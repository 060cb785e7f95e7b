/* SPDX-License-Identifier: MIT */
/*
 * lib/policy/cost.c: what one block/wake pair is thought to cost. The estimate is one for the
 * process, so each test runs in a child of its own.
 */
#include <pthread.h>

#include "common/cmocka_all.h"
#include "policy/cost.h"

#define BATCH 32
#define FIRST 4

static const struct iw_facts guest = { .virtual_machine = true };
static const struct iw_facts metal = { .virtual_machine = false };

static void latencies(unsigned n, uint64_t ns)
{
	while (n--)
		iw_cost_note_latency(ns);
}

static void wakers(unsigned n, uint64_t ns)
{
	while (n--)
		iw_cost_note_waker(ns);
}

static void check_table(void)
{
	CHECK_EQ(iw_cost_latency_ns(&guest), 20000);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_ADAPTIVE), 30000);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_SPIN), 30000);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_LATENCY), 4 * 20000 + 10000);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_POWER), 20000 / 4 + 10000);
	CHECK_EQ(iw_cost_latency_ns(&metal), 7000);
	CHECK_EQ(iw_cost_block_ns(&metal, IPCWAIT_ADAPTIVE), 10000);
}

static void table_until_the_first_samples(void)
{
	check_table();
	latencies(FIRST - 1, 3000);
	wakers(FIRST - 1, 1000);
	check_table();
	CHECK_EQ(iw_cost_samples(), FIRST - 1);
	latencies(1, 3000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 3000);
	CHECK_EQ(iw_cost_latency_ns(&metal), 3000);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_ADAPTIVE), 13000);
	wakers(1, 1000);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_ADAPTIVE), 4000);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_LATENCY), 13000);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_POWER), 1750);
}

/* The first samples are believed until the batch that they are in is full. */
static void first_samples_are_soon_forgotten(void)
{
	latencies(FIRST, 90000);
	wakers(FIRST, 30000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 90000);
	latencies(BATCH - FIRST - 1, 3000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 90000);
	latencies(1, 3000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 3000);
}

static void follows_a_shift(void)
{
	wakers(BATCH, 20000);
	latencies(5 * BATCH, 5000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 5000);
	/* One strange batch or two do not matter; most of the last five do. */
	latencies(2 * BATCH, 50000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 5000);
	latencies(BATCH, 50000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 50000);
	latencies(3 * BATCH, 2000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 2000);
}

/* Three quarters of a batch may be delayed by other work without effect. */
static void lower_quartile(void)
{
	wakers(BATCH, 20000);
	for (int i = 0; i < 9; i++) {
		latencies(1, 4000 + (uint64_t)i);
		latencies(2, 400000);
	}
	latencies(5, 450000);
	CHECK_EQ(iw_cost_samples(), BATCH);
	CHECK(iw_cost_latency_ns(&guest) >= 4000);
	CHECK(iw_cost_latency_ns(&guest) <= 4008);
	/* And of what wakers pay. */
	for (int i = 0; i < 2; i++) {
		wakers(9, 2000);
		wakers(BATCH - 9, 90000);
	}
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_ADAPTIVE),
		 iw_cost_latency_ns(&guest) + 2000);
}

/* What is measured here, what was saved, a table: the first that there is. And where it is from. */
static void initial_costs(void)
{
	struct iw_facts saved = guest;
	uint64_t latency_ns, waker_ns;

	CHECK_EQ(iw_cost_source(&guest), IW_COST_TABLE);
	saved.calibrated = true;
	saved.calibration.latency_ns = 12000;
	saved.calibration.waker_ns = 5000;
	iw_cost_initial(&saved, &latency_ns, &waker_ns);
	CHECK_EQ(latency_ns, 12000);
	CHECK_EQ(waker_ns, 5000);
	CHECK_EQ(iw_cost_source(&saved), IW_COST_CALIBRATED);
	iw_cost_calibrated(13000, 6000);
	iw_cost_initial(&saved, &latency_ns, &waker_ns);
	CHECK_EQ(latency_ns, 13000);
	CHECK_EQ(waker_ns, 6000);
	CHECK_EQ(iw_cost_source(&guest), IW_COST_CALIBRATED);
	latencies(FIRST, 3000);
	CHECK_EQ(iw_cost_source(&guest), IW_COST_PARTLY_LEARNED);
	wakers(FIRST, 3000);
	CHECK_EQ(iw_cost_source(&guest), IW_COST_LEARNED);
}

/* A sleeper that is late after a cheap wake had to queue for a CPU. */
static void latency_is_bounded_by_what_the_waker_paid(void)
{
	latencies(BATCH, 200000);
	CHECK_EQ(iw_cost_latency_ns(&guest), 4 * 10000);
	CHECK_EQ(iw_cost_latency_ns(&metal), 4 * 3000);
	wakers(BATCH, 1500);
	CHECK_EQ(iw_cost_latency_ns(&guest), 4 * 1500);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_ADAPTIVE), 5 * 1500);
}

/* Whoever waits for a thread that was just woken waits for a late one too. */
static void lateness_is_that_of_most(void)
{
	CHECK_EQ(iw_cost_lateness_ns(&guest), 20000);
	CHECK_EQ(iw_cost_lateness_ns(&metal), 7000);
	wakers(BATCH, 10000);
	for (unsigned batch = 0; batch < 5; batch++) {
		latencies(BATCH / 2, 8000);
		latencies(BATCH / 4, 15000);
		latencies(BATCH / 8 + 1, 25000);
		latencies(BATCH / 8 - 1, 400000);
	}
	CHECK_EQ(iw_cost_latency_ns(&guest), 8000);
	CHECK_EQ(iw_cost_lateness_ns(&guest), 25000);
	latencies(5 * BATCH, 400000);
	CHECK_EQ(iw_cost_lateness_ns(&guest), 4 * 10000);
}

static void queued_are_ignored(void)
{
	latencies(10 * BATCH, 500000);
	latencies(10 * BATCH, UINT64_MAX);
	latencies(10 * BATCH, UINT64_C(1) << 32);
	wakers(10 * BATCH, 500000);
	CHECK_EQ(iw_cost_samples(), 0);
	check_table();
	latencies(BATCH, 499999);
	wakers(BATCH, 499999);
	CHECK_EQ(iw_cost_latency_ns(&guest), 499999);
}

static void zero_is_a_sample(void)
{
	latencies(BATCH, 0);
	wakers(BATCH, 0);
	CHECK_EQ(iw_cost_samples(), BATCH);
	CHECK_EQ(iw_cost_latency_ns(&guest), 1);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_ADAPTIVE), 2);
	CHECK_EQ(iw_cost_block_ns(&guest, IPCWAIT_POWER), 1);
}

static struct iw_timer_cost timer_after(unsigned n, uint64_t ns)
{
	while (n--)
		iw_cost_note_timer(ns);
	return iw_cost_timer(&guest);
}

/* Table, then a batch of what timers are late, rather too much and by how much too much. */
static void timer_is_learned(void)
{
	struct iw_timer_cost cost = timer_after(BATCH - 1, 5000);

	CHECK_EQ(cost.late_ns, 98000);
	CHECK_EQ(cost.spread_ns, 8000);
	CHECK_EQ(cost.cpu_ns, 3200);
	cost = timer_after(1, 5000);
	CHECK_EQ(cost.late_ns, 5000);
	CHECK_EQ(cost.spread_ns, 0);
	/* 1000, 2000, ... 32000: what seven eighths are below, and what half are. */
	for (unsigned batch = 0; batch < 5; batch++)
		for (unsigned i = 1; i <= BATCH; i++)
			cost = timer_after(1, UINT64_C(1000) * i);
	CHECK_EQ(cost.late_ns, 29000);
	CHECK_EQ(cost.spread_ns, 29000 - 17000);
	/* Timers say nothing about wakes, nor what had to queue about timers. */
	CHECK_EQ(iw_cost_samples(), 0);
	cost = timer_after(10 * BATCH, 500000);
	CHECK_EQ(cost.late_ns, 29000);
	cost = timer_after(BATCH, UINT64_MAX);
	CHECK_EQ(cost.late_ns, 29000);
	check_table();
}

static void timer_from_a_calibration(void)
{
	struct iw_facts saved = guest;
	struct iw_timer_cost cost;

	saved.calibrated = true;
	saved.calibration.timer_ns = 60000;
	saved.calibration.timer_p90_ns = 71000;
	saved.calibration.sleeper_cpu_ns = 4321;
	cost = iw_cost_timer(&saved);
	CHECK_EQ(cost.late_ns, 71000);
	CHECK_EQ(cost.spread_ns, 11000);
	CHECK_EQ(cost.cpu_ns, 4321);
	/* Odd ones are no spread. */
	saved.calibration.timer_p90_ns = 1;
	CHECK_EQ(iw_cost_timer(&saved).spread_ns, 0);
	(void)timer_after(BATCH, 7000);
	CHECK_EQ(iw_cost_timer(&saved).late_ns, 7000);
	CHECK_EQ(iw_cost_timer(&saved).cpu_ns, 4321);
}

/* Time begins with the first question; then one waiter in 20 ms, if nobody slept meanwhile. */
static void probe_is_due(void)
{
	const struct iw_facts ticks_are_ns = {
		.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
	};

	CHECK(!iw_cost_probe_due(&ticks_are_ns, 1000));
	CHECK(!iw_cost_probe_due(&ticks_are_ns, 20000000));
	CHECK(iw_cost_probe_due(&ticks_are_ns, 20002000));
	CHECK(!iw_cost_probe_due(&ticks_are_ns, 20002000));
	latencies(1, 5000);
	CHECK(!iw_cost_probe_due(&ticks_are_ns, 40003000));
	CHECK(iw_cost_probe_due(&ticks_are_ns, 60004000));
}

static void *note_many(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	for (int i = 0; i < 20000; i++) {
		uint64_t ns;

		iw_cost_note_latency(1000 + check_random(&seed) % 1000);
		ns = iw_cost_latency_ns(&metal);
		CHECK(ns == 7000 || (ns >= 1000 && ns < 2000));
	}
	return NULL;
}

static void threads_leave_plausible_numbers(void)
{
	pthread_t thread[4];

	for (uintptr_t i = 0; i < 4; i++)
		CHECK(pthread_create(&thread[i], NULL, note_many, (void *)(i + 1)) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	CHECK_EQ(iw_cost_samples(), 80000);
	CHECK(iw_cost_latency_ns(&metal) < 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(table_until_the_first_samples),
		CHILD_TEST(first_samples_are_soon_forgotten),
		CHILD_TEST(follows_a_shift),
		CHILD_TEST(lower_quartile),
		CHILD_TEST(initial_costs),
		CHILD_TEST(latency_is_bounded_by_what_the_waker_paid),
		CHILD_TEST(lateness_is_that_of_most),
		CHILD_TEST(queued_are_ignored),
		CHILD_TEST(zero_is_a_sample),
		CHILD_TEST(probe_is_due),
		CHILD_TEST(timer_is_learned),
		CHILD_TEST(timer_from_a_calibration),
		CHILD_TEST(threads_leave_plausible_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
