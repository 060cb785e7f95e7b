/* SPDX-License-Identifier: MIT */
/*
 * The process's request to the kernel's quality of service for the latency of wakes: with 0 idle
 * CPUs poll, and a wake costs no interrupt. It lives as long as a descriptor of its device is open.
 */
#ifndef IW_OS_WAKE_LATENCY_H
#define IW_OS_WAKE_LATENCY_H

#include <stdint.h>

/*
 * One user more. The first makes the request.
 *
 * Return: 0, or a negative errno: of opening the device; -EOPNOTSUPP: the idle CPUs of this kernel
 * cannot poll; -EOVERFLOW: INT_MAX users; -ENOMEM: no memory for the hook of fork(2). errno is
 * preserved.
 */
int iw_wake_latency_begin(void);

/* What this process has asked for so far. */
struct iw_wake_latency {
	uint64_t requests;
	uint64_t held_ns;
};

struct iw_wake_latency iw_wake_latency_total(void);

/* One user less. The last takes it back. 0, or -EINVAL if there is none. errno is preserved. */
int iw_wake_latency_end(void);

#endif
