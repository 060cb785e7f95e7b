/* SPDX-License-Identifier: MIT */
#include "clock.h"
#include "quantile.h"

#include <time.h>

#define READINGS 1001

/* Of so many tries the fastest: the others were disturbed. */
#define TRIES           20
#define STEPS_PER_TRIAL 20000

static int64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_thread_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_process_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_cost_ns(void)
{
	uint64_t ns[READINGS];

	for (int i = 0; i < READINGS; i++) {
		int64_t begin = clock_now_ns();

		ns[i] = (uint64_t)(clock_now_ns() - begin);
	}
	return (int64_t)quantile(ns, READINGS, 0.5);
}

void clock_burn_until(int64_t until_ns)
{
	while (clock_now_ns() < until_ns)
		continue;
}

/* A linear congruential step: a multiplication and an addition, about a nanosecond. */
uint64_t clock_work(uint64_t x, uint64_t steps)
{
	while (steps--)
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return x;
}

uint64_t clock_steps_per_us(void)
{
	int64_t best_ns = INT64_MAX;
	volatile uint64_t used = 1;

	for (int i = 0; i < TRIES; i++) {
		int64_t begin = clock_now_ns(), ns;

		used = clock_work(used, STEPS_PER_TRIAL);
		ns = clock_now_ns() - begin;
		best_ns = ns < best_ns ? ns : best_ns;
	}
	return best_ns > 0 ? STEPS_PER_TRIAL * UINT64_C(1000) / (uint64_t)best_ns + 1 : 1;
}
