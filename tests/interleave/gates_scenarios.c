/* SPDX-License-Identifier: MIT */
/*
 * Barrier, latch and once: lib/sync, their inline functions, and the waiting loop of lib/engine
 * below them. Each frees the object as early as its header allows.
 */
#include "interleave/gates.h"

const struct model_scenario model_scenarios[] = {
	{ .list = gates_barrier },
	{ .list = gates_latch },
	{ .list = gates_once },
	{ 0 },
};
