/* SPDX-License-Identifier: MIT */
#ifndef IW_ENGINE_PLAN_H
#define IW_ENGINE_PLAN_H

#include <stdint.h>

#include "engine/wait.h"

/*
 * How long a waiter may spin from @now, in ticks, by its preset: learned or fixed,
 * jittered, at most 2B and below the ceiling. Result in ns. Sets the waiter's plan.
 */
uint64_t iw_plan_spin_ns(struct iw_waiter *me, uint64_t now);

#endif
