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
 * counter: other sources are devices, or pages of a hypervisor that it calls into the kernel for,
 * which takes microseconds, or a system call at least.
 */
#define VDSO_NS 150

/* The kernel may take the CPU away between two readings, or tick. */
#define READINGS 8

bool iw_clock_counter_trusted(void)
{
	int64_t last = iw_clock_ns(), least = INT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		int64_t now = iw_clock_ns();

		least = now - last < least ? now - last : least;
		last = now;
	}
	return least <= VDSO_NS;
}
