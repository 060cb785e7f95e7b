/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "os/usage.h"

const struct iw_facts engine_usual_facts = {
	.rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
	.config = { .spin_budget_percent = -1 },
	.cpus = 2,
};

uint32_t engine_process;

uint32_t iw_usage_process(void)
{
	return engine_process;
}

const struct model_scenario model_scenarios[] = {
	{ .list = engine_facts },   { .list = engine_credit },    { .list = engine_cost },
	{ .list = engine_window },  { .list = engine_sites },     { .list = engine_policy },
	{ .list = engine_objects }, { .list = engine_stats },     { .list = engine_record },
	{ .list = engine_team },    { .list = engine_calibrate }, { 0 },
};
