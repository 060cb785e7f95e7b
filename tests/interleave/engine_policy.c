/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "policy/policy.c"

static const struct ipcwait_policy policies[] = {
	{ .preset = IPCWAIT_LATENCY, .max_spin_us = 30, .place = 1 },
	{ .preset = IPCWAIT_BLOCK, .max_spin_us = 500 },
};

static uint32_t word_of(const struct ipcwait_policy *p)
{
	return (p->place ? MOVES : 0) | p->max_spin_us << PRESET_BITS | (uint32_t)p->preset;
}

static void begin(void)
{
	model_share(&program_default, sizeof(program_default));
	model_name(&program_default, "default");
}

/* Neither half of one policy with the other half of another. */
static void is_one_of_them(void)
{
	uint32_t word = (uint32_t)model_peek(&program_default);

	model_assert(!word || word == word_of(&policies[0]) ||
		     word == word_of(&policies[1]));
}

/* Its own policy or the other's, but not that of before. */
static void set(unsigned i)
{
	const struct ipcwait_policy wrong = { .preset = IPCWAIT_POWER,
					      .max_spin_us = IW_MAX_SPIN_US_LIMIT + 1 };
	enum ipcwait_preset now;

	model_assert(ipcwait_policy_set_default(&policies[i]) == 0);
	model_assert(ipcwait_policy_set_default(&wrong) == -EINVAL);
	now = iw_policy_default_preset(&engine_usual_facts);
	model_assert(now == IPCWAIT_LATENCY || now == IPCWAIT_BLOCK);
}

static void wait_twice(void)
{
	for (unsigned n = 0; n < 2; n++) {
		enum ipcwait_preset preset = iw_policy_default_preset(&engine_usual_facts);
		uint64_t us = iw_policy_ceiling_ns(&engine_usual_facts) / 1000;

		model_assert(preset == IPCWAIT_ADAPTIVE || preset == IPCWAIT_LATENCY ||
			     preset == IPCWAIT_BLOCK);
		model_assert(us == MAX_SPIN_US || us == 30 || us == 500);
	}
}

static void set_or_wait(unsigned i)
{
	if (i < 2)
		set(i);
	else
		wait_twice();
}

const struct model_scenario engine_policy[] = {
	{ .name = "policy: set while waits begin",
	  .threads = 3,
	  .about =
		  "every wait has a preset and a ceiling that were set, or those of before",
	  .begin = begin,
	  .thread = set_or_wait,
	  .always = is_one_of_them,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 3,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
