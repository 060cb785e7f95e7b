/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_CPU_H
#define IW_OS_CPU_H

#include <stdbool.h>

/* Where the calling thread may run. */
struct iw_cpu_set {
	unsigned count; /* CPUs in the affinity mask, at least 1 */
	unsigned first; /* the lowest of them */
};

/*
 * Of the calling thread, or of the main thread. One system call, 0.3 us. On failure: many
 * CPUs, the state in which nothing is forbidden.
 */
struct iw_cpu_set iw_cpu_allowed(bool main_thread);

/* True if the CPU can rest until a cache line is written to. May exit to the hypervisor. */
bool iw_cpu_can_monitor(void);

/* The CPU that the calling thread runs on now. */
#define IW_CPU_UNKNOWN (~0u) /* the kernel does not tell */
unsigned iw_cpu_current(void);

/* Let others run that the kernel has for this CPU. A system call, 0.25 us if there are none. */
void iw_cpu_yield(void);

/* Its NUMA node; 0 if the kernel does not tell. A system call, 0.1 us. */
unsigned iw_cpu_node(void);

#endif
