/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <ipcwait/base.h>

#include "os/calls.h"
#include "os/clock.h"
#include "os/libc.h"
#include "os/syscall.h"

/* The program's clock: libc's, or that of a library in front of it, as libfaketime is one. */
static iw_clock_reader *reader = clock_gettime;

/* It may show another time than the kernel's. */
static bool is_foreign;

static int64_t ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t read_ns(clockid_t clock)
{
	struct timespec now;

	/* Cannot fail: the clock id is valid and so is the pointer. */
	(void)reader(clock, &now);
	return ns_of(now);
}

static int64_t read_kernels_ns(clockid_t clock)
{
	struct timespec now = { 0, 0 };

	(void)iw_syscall(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
	return ns_of(now);
}

void iw_clock_read_by(iw_clock_reader *f)
{
	void *address;

	_Static_assert(sizeof(address) == sizeof(f), "POSIX");
	memcpy(&address, &f, sizeof(address));
	reader = f;
	is_foreign = !iw_is_libcs(address);
}

/* Before other constructors read it. The preload module may have been here. */
static __attribute__((constructor(101))) void look_at_reader(void)
{
	iw_clock_read_by(reader);
}

int64_t iw_clock_of_kernel(clockid_t clock, int64_t at_ns)
{
	int64_t now_ns, ahead_ns;

	if (IPCWAIT_LIKELY(!is_foreign) || !iw_call_allowed(IW_CALL_AGAIN))
		return at_ns;
	/* In this order: what passes between the two makes the sleep longer, and never shorter. */
	now_ns = read_ns(clock);
	ahead_ns = read_kernels_ns(clock) - now_ns;
	if (ahead_ns > 0 && at_ns > INT64_MAX - ahead_ns)
		return INT64_MAX;
	return at_ns + ahead_ns < 0 ? 0 : at_ns + ahead_ns;
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
