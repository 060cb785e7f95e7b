/* SPDX-License-Identifier: MIT */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

/* A bar on the standard error output, if that is a terminal. For ipcwait_calibrate(). */
void progress_show(void *unused, uint32_t done, uint32_t total);

/* Take it away again. */
void progress_end(void);

#endif
