/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_USAGE_H
#define IW_OS_USAGE_H

#include <stdint.h>

/* The id of the process; not 0. */
uint32_t iw_usage_process(void);

/* How often the calling thread was switched out without having asked for it. */
uint64_t iw_usage_preemptions(void);

/* CPU time of the calling thread in ns. */
uint64_t iw_usage_cpu_ns(void);

/*
 * Time that the hypervisor took from two CPUs, in the kernel's ticks of 10 ms. Over all CPUs
 * where /proc/stat is too long, always 0 where there is none. 14 us on the project's guest.
 * Needs 16 KiB of stack.
 */
uint64_t iw_usage_steal(unsigned cpu_a, unsigned cpu_b);

#endif
