/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_STATUS_H
#define IW_OS_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "os/cpu.h"

/* What /proc/self/status says, in 10 to 30 us. */
struct iw_status {
	bool filtered;          /* a filter of system calls is in force (seccomp(2)) */
	uint32_t filters;       /* how many; 0 before Linux 5.10, which does not tell */
	struct iw_cpu_set cpus; /* of the first thread; count 0: not told */
};

/*
 * Calls openat(2), read(2) and close(2), as the loader has before. False if it cannot be read.
 * errno is preserved.
 */
bool iw_status_read(struct iw_status *s);

/* The CPUs that were read last, at the load of the preload module. Read now if nothing was. */
struct iw_cpu_set iw_status_last_cpus(void);

/* "0-3,8" to a set. */
struct iw_cpu_set iw_status_cpus(const char *list);

#endif
