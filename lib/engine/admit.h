/* SPDX-License-Identifier: MIT */
/* Why a waiter may not spin. */
#ifndef IW_ENGINE_ADMIT_H
#define IW_ENGINE_ADMIT_H

#include <stdint.h>

#include "policy/reason.h"
#include "engine/wait.h"

/*
 * At @now in ticks. IW_NO_REASON: it may spin; for *@part_ticks without regard to the window
 * if that is not 0.
 */
enum iw_reason iw_admit(const struct iw_waiter *me, uint64_t now, uint64_t *part_ticks);

/*
 * The reason why the thread had no second CPU in its last waits on the object, if there were
 * many in a row: then it need not be asked again. IW_NO_REASON: ask.
 */
enum iw_reason iw_admit_still_alone(const struct iw_waiter *me);

#endif
