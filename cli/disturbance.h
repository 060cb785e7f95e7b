/* SPDX-License-Identifier: MIT */
#ifndef CLI_DISTURBANCE_H
#define CLI_DISTURBANCE_H

/* CPU seconds that all other programs have used so far; negative if the kernel does not tell.
 * Exact to some hundredths of a second. */
double disturbance_seconds(void);

#endif
