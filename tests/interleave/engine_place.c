/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "policy/place.c"

/* Later than that the next try may begin, after one that did not help. */
#define NEXT (PART_NS + 4 * INTERVAL_NS)

/* Often enough in the time that it takes. */
#define OFTEN (BESIDE_NS / WITHIN_NS * TIMES)

/* Notes of the test's own. */
static volatile uint64_t last_end, common_end;
static volatile unsigned tries;

static void begin_scenario(void)
{
	model_share(&until, sizeof(until));
	model_share(&in_vain, sizeof(in_vain));
	model_name(&until, "until");
	model_name(&in_vain, "in_vain");
	last_end = common_end = 0;
	tries = 0;
}

/* Beside its waker again, for the last of many times since long ago. */
static uint64_t beside(uint64_t now)
{
	struct iw_beside *b = &iw_self()->beside;
	uint64_t ticks;

	b->times = OFTEN;
	b->since = now - BESIDE_NS;
	ticks = iw_place_beside(&engine_usual_facts, b, now);
	model_assert(ticks <= PART_NS);
	return ticks;
}

/* A new end is a new try. */
static void look(void)
{
	uint64_t end = model_peek(&until);

	if (end == last_end)
		return;
	model_assert(!last_end || end >= last_end + INTERVAL_NS);
	last_end = end;
	tries++;
}

static void agree(uint64_t end)
{
	if (!common_end)
		common_end = end;
	model_assert(end == common_end);
}

/* Who began no try knows of the other's by then. */
static void meet(unsigned i)
{
	uint64_t now = ENGINE_NOW + i, ticks = beside(now);

	if (ticks)
		agree(now + ticks);
	now = ENGINE_NOW + MODEL_THREADS_MAX;
	ticks = beside(now);
	model_assert(ticks);
	agree(now + ticks);
}

static void one_try(void)
{
	model_assert(tries == 1 && in_vain.v == 1);
}

/* Each at another time, in whatever order; thread 0 is parted. */
static void meet_again(unsigned i)
{
	(void)beside(ENGINE_NOW + i * INTERVAL_NS / 2);
	if (i == 0)
		iw_place_apart(&iw_self()->beside);
	(void)beside(ENGINE_NOW + NEXT + i * INTERVAL_NS);
}

static void few_tries(void)
{
	model_assert(tries >= 1 && in_vain.v <= tries);
}

const struct model_scenario engine_place[] = {
	{ .name = "place: a common moment",
	  .threads = 3,
	  .about = "whoever is beside its waker spins until the same moment; that is one "
		   "try",
	  .begin = begin_scenario,
	  .thread = meet,
	  .always = look,
	  .end = one_try,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "place: once in an interval",
	  .threads = 3,
	  .about = "between the ends of two tries there is an interval at least",
	  .begin = begin_scenario,
	  .thread = meet_again,
	  .always = look,
	  .end = few_tries,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
