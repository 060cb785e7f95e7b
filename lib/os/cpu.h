/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_CPU_H
#define IW_OS_CPU_H

/* Where the calling thread may run. */
struct iw_cpu_set {
	unsigned count; /* CPUs in the affinity mask, at least 1 */
	unsigned first; /* the lowest of them */
};

/* One system call, 0.3 us. On failure: many CPUs, the state in which nothing is forbidden. */
struct iw_cpu_set iw_cpu_allowed(void);

/* The CPU that the calling thread runs on now; 0 if the kernel does not tell. */
unsigned iw_cpu_current(void);

#endif
