/* SPDX-License-Identifier: MIT */
/* How many CPUs there are for a waiter and the thread it waits for. */
#ifndef IW_ENV_CPUS_H
#define IW_ENV_CPUS_H

#include <stdint.h>

/* CPUs that the calling thread may run on, read now. */
uint32_t iw_cpus_usable(void);

/* CPUs that the process may use: the larger of the calling and the main thread's masks. */
uint32_t iw_cpus_process(void);

#endif
