/* SPDX-License-Identifier: MIT */
/*
 * The share of the CPUs that the process's control groups may use. When it is used up, every
 * thread stops until the next period, 0.1 s as a rule: a spinning thread spends what the
 * thread that it waits for would need.
 */
#ifndef IW_ENV_QUOTA_H
#define IW_ENV_QUOTA_H

#include <stdint.h>

/* CPUs times 100 that the groups found below @root may use; 0: no limit is known. */
uint32_t iw_quota_hundredths(const char *root);

#endif
