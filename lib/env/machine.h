/* SPDX-License-Identifier: MIT */
#ifndef IW_ENV_MACHINE_H
#define IW_ENV_MACHINE_H

#include <stdbool.h>

/* True if files say that this is a guest: where the CPU has no bit for it. */
bool iw_machine_said_virtual(void);

/* True if the CPU says so. No system call. */
bool iw_machine_virtual(void);

/* True if the hypervisor promises that vCPUs are not taken away. */
bool iw_machine_dedicated(void);

#endif
