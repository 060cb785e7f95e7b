/* SPDX-License-Identifier: MIT */
#include "interleave/past.h"

const bool past_repaired = true;

const struct model_scenario model_scenarios[] = {
	{ .list = past_mutex }, { .list = past_robust },
	{ .list = past_sem },   { .list = past_queue },
	{ .list = past_order }, { .list = past_cond },
	{ .list = past_block }, { 0 },
};
