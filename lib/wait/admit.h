/* SPDX-License-Identifier: MIT */
/* Why a waiter may not spin. */
#ifndef IW_WAIT_ADMIT_H
#define IW_WAIT_ADMIT_H

#include <stdint.h>

#include "wait/reason.h"
#include "wait/wait.h"

/*
 * At @now in ticks. IW_NO_REASON: it may spin; for *@part_ticks without regard to the window
 * if that is not 0.
 */
enum iw_reason iw_admit(const struct iw_waiter *me, uint64_t now, uint64_t *part_ticks);

#endif
