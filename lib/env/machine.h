/* SPDX-License-Identifier: MIT */
#ifndef IW_ENV_MACHINE_H
#define IW_ENV_MACHINE_H

#include <stdbool.h>

/* True if the CPU or the firmware tables say that this is a guest. */
bool iw_machine_virtual(void);

/* True if the hypervisor promises that vCPUs are not taken away. */
bool iw_machine_dedicated(void);

#endif
