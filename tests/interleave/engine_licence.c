/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "policy/licence.c"

#define WATCHED 4
#define LATER   (2 * EXPIRES_NS)

/* Notes of the test's own. */
static volatile unsigned held;
static volatile bool taken[WATCHED], over;

static uint32_t take(uint64_t now)
{
	return iw_licence_take(&engine_usual_facts, now);
}

static void begin_with(unsigned cpus)
{
	engine_set_cpus(cpus);
	model_share(licences, WATCHED * sizeof(licences[0]));
	for (unsigned i = 0; i < WATCHED; i++) {
		model_name(&licences[i], "licence");
		taken[i] = false;
	}
	held = 0;
	over = false;
}

static void begin_three_cpus(void)
{
	begin_with(3);
}

static void begin_two_cpus(void)
{
	begin_with(2);
}

/* Each has read another time, and one of them reads 0. */
static void spin_twice(unsigned i)
{
	for (unsigned round = 0; round < 2; round++) {
		uint32_t licence = take(i);

		if (!licence)
			continue;
		model_assert(licence <= 2 && !taken[licence]);
		taken[licence] = true;
		held++;
		model_point();
		held--;
		taken[licence] = false;
		iw_licence_return(licence);
	}
}

static void all_are_back(void)
{
	uint32_t first = take(0), second = take(0);

	model_assert(first && second && first != second);
	model_assert(!take(0));
}

static void take_early(void)
{
	uint32_t licence = take(EXPIRES_NS / 2);

	model_assert(!licence || !held);
	iw_licence_return(licence);
}

/* Thread 0 may go at any moment. What it holds is nobody's before it expires. */
static void spin_or_go(unsigned i)
{
	if (i == 0) {
		spin_twice(i);
		over = true;
		return;
	}
	take_early();
	while (!over && !model_dead(0))
		model_pause();
	take_early();
	/* The first may find that another value is there than the one it saw. */
	model_assert(!held || take(LATER) == 1 || take(LATER) == 1);
}

static void is_free_later(void)
{
	model_assert(model_dead(0) || take(EXPIRES_NS / 2) == 1);
}

const struct model_scenario engine_licence[] = {
	{ .name = "licence: so many, and they come back",
	  .threads = 3,
	  .about = "of three threads two spin at most; in the end both licences are free",
	  .begin = begin_three_cpus,
	  .thread = spin_twice,
	  .end = all_are_back,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000,
		      .runs_most = 20000 } },
	{ .name = "licence: gone with its thread",
	  .threads = 2,
	  .process = { 0, 1 },
	  .about = "nobody gets it at once, somebody gets it when it has expired",
	  .begin = begin_two_cpus,
	  .thread = spin_or_go,
	  .end = is_free_later,
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
