/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "os/clock.h"

static int64_t read_ns(clockid_t clock)
{
	struct timespec now;

	/* Cannot fail: the clock id is valid and so is the pointer. */
	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t iw_clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t iw_clock_real_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

int64_t iw_clock_raw_ns(void)
{
	return read_ns(CLOCK_MONOTONIC_RAW);
}

int64_t iw_clock_boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

uint64_t iw_clock_wall_s(void)
{
	int64_t ns = read_ns(CLOCK_REALTIME);

	return ns < 0 ? 0 : (uint64_t)ns / 1000000000;
}

/*
 * The vDSO reads a clock in 20 to 60 ns, and does so where the kernel keeps time with the CPU's
 * counter. Other sources are devices, or pages of a hypervisor, that it calls into the kernel for,
 * which takes more, and microseconds with most. A single reading is no measure: a clock with a
 * coarse unit may show anything from 0 on. One that stands still in a batch moves with the tick.
 */
#define VDSO_NS INT64_C(100)

/* Of several batches the least: in the others the kernel took the CPU away, or ticked. */
#define READINGS 8
#define BATCHES  3

static int64_t batch_ns(void)
{
	int64_t begin = iw_clock_ns();

	for (int i = 1; i < READINGS; i++)
		(void)iw_clock_ns();
	return iw_clock_ns() - begin;
}

bool iw_clock_counter_trusted(void)
{
	int64_t least = batch_ns();

	for (int i = 1; i < BATCHES; i++) {
		int64_t ns = batch_ns();

		least = ns < least ? ns : least;
	}
	return least > 0 && least <= VDSO_NS * READINGS;
}
