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
 */
bool iw_cpus_several(const struct iw_tick_rate *rate, uint64_t now, uint32_t waker_cpu);

/* CPUs that the calling thread may run on. */
uint32_t iw_cpus_usable(void);

/* CPUs that the process may use: the larger of the calling and the main thread's masks. */
uint32_t iw_cpus_process(void);

#endif
