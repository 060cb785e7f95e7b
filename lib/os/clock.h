/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_CLOCK_H
#define IW_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns, the clock of all deadlines. */
int64_t iw_clock_ns(void);

/* The same for what is added and subtracted: it is never negative. */
static inline uint64_t iw_now_ns(void)
{
	return (uint64_t)iw_clock_ns();
}

/* CLOCK_REALTIME in ns, for deadlines that are told by it: it may be set. */
int64_t iw_clock_real_ns(void);

/* CLOCK_MONOTONIC_RAW in ns: not slewed, for comparing with the CPU's counter. */
int64_t iw_clock_raw_ns(void);

/* CLOCK_BOOTTIME in ns: as CLOCK_MONOTONIC, and goes on while the machine is suspended. */
int64_t iw_clock_boot_ns(void);

/* As clock_gettime(2). */
typedef int iw_clock_reader(clockid_t clock, struct timespec *now);

/*
 * All clocks are read by @f from now on; before that by clock_gettime(), as the library finds it.
 * To be called before there are threads.
 */
void iw_clock_read_by(iw_clock_reader *f);

/*
 * The time @at_ns of the clock, not negative, as the kernel is to be told it. The same time, unless
 * the clock that is read here is not libc's: then it is by so much ahead of the kernel's present as
 * it is ahead of that clock's.
 */
int64_t iw_clock_of_kernel(clockid_t clock, int64_t at_ns);

/*
 * By how much CLOCK_MONOTONIC is ahead here of that in the first time namespace is asked of /proc,
 * which takes 10 to 25 us: too long for each program that is loaded.
 */
void iw_clock_find_ahead(void);

/*
 * The same time for processes of other time namespaces: for what they share. Modulo 2^64. As the
 * own one where it is not known how far that is ahead.
 */
uint64_t iw_clock_common(uint64_t now_ns);

/* What the text of /proc/self/timens_offsets says it is; 0 if that makes no sense. */
int64_t iw_clock_ahead_in(const char *text);

/* Seconds since 1970, for people: nothing is computed from it. */
uint64_t iw_clock_wall_s(void);

/*
 * True if the kernel itself keeps time with the CPU's counter, so that it may be trusted: told by
 * how long the clock takes, in a microsecond. No system call where it does.
 */
bool iw_clock_counter_trusted(void);

#endif
