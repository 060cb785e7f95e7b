/* SPDX-License-Identifier: MIT */
/*
 * How many CPUs there are for a waiter and the thread it waits for. With one, spinning
 * keeps the waker from running.
 */
#ifndef IW_ENV_CPUS_H
#define IW_ENV_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "env/tick.h"

/*
 * True if the calling thread and some other waiter of this process can run at the same
 * time: the thread may use two CPUs, or it is pinned to one and another is pinned
 * elsewhere. @waker_cpu is the CPU + 1 of whoever last woke a sleeper of the object, 0 if
 * unknown; one that the thread may not use itself counts as a second CPU.
 *
 * Ten times a second, if it is asked that often, the thread's masks, its scheduling class
 * (iw_thread.realtime) and the quota (iw_quota()) are read again. A thread without a second CPU
 * asks in every 16th wait only (engine/admit.c).
 */
bool iw_cpus_several(const struct iw_tick_rate *rate, uint64_t now, uint32_t waker_cpu);

/*
 * True if CPU time is short by decree: the control groups' quota is less than a spinner and
 * its waker can use, or they were stopped in the last second. After iw_cpus_several().
 */
bool iw_cpus_rationed(void);

/*
 * How many threads of the process may spin at once, so that one CPU is left for those they
 * wait for: the CPUs that the process may use, by its masks and by its quota, less one, and
 * at least 1. After iw_cpus_several(), else 1.
 */
uint32_t iw_cpus_spinners(void);

/* CPUs that the calling thread may run on, read now. */
uint32_t iw_cpus_usable(void);

/* CPUs that the process may use: the larger of the calling and the main thread's masks. */
uint32_t iw_cpus_process(void);

#endif
