/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "watch/stats.c"

#define KIND    IPCWAIT_KIND_SEM
#define WATCHED 2

/* Notes of the test's own. */
static volatile unsigned counted;
static volatile uint32_t shard_of[MODEL_THREADS_MAX];

static void begin_with(uint32_t next)
{
	model_share(shards, WATCHED * sizeof(shards[0]));
	model_share(reasons, sizeof(reasons));
	model_share(&next_shard, sizeof(next_shard));
	model_name(&next_shard, "next_shard");
	next_shard.v = next;
	counted = 0;
}

static void begin(void)
{
	begin_with(0);
}

static void begin_last(void)
{
	begin_with(SHARDS - 1);
}

static void count(void)
{
	counted++;
	iw_count(KIND, IW_SLEPT, 1);
	iw_count_reason(IW_ONE_CPU);
}

static void count_in_handler(unsigned i)
{
	(void)i;
	count();
}

/* More threads than shards: they all have the same one. */
static void count_twice(unsigned i)
{
	uint64_t before, after;

	if (i != 0)
		iw_self()->shard = 1;
	count();
	before = total(KIND, IW_SLEPT);
	count();
	after = total(KIND, IW_SLEPT);
	model_assert(before >= 1 && after > before);
}

static void all_are_there(void)
{
	model_assert(total(KIND, IW_SLEPT) == counted);
	model_assert(ipcwait_impl_load64_relaxed(&reasons[IW_ONE_CPU]) == counted);
}

static void take_shard(unsigned i)
{
	shard_of[i] = my_shard();
	model_assert(shard_of[i] < SHARDS && my_shard() == shard_of[i]);
}

static void all_differ(void)
{
	for (unsigned i = 0; i < 3; i++)
		model_assert(shard_of[i] != shard_of[(i + 1) % 3]);
}

const struct model_scenario engine_stats[] = {
	{ .name = "stats: no count is lost",
	  .threads = 3,
	  .about = "where threads and a handler share a shard",
	  .begin = begin,
	  .thread = count_twice,
	  .end = all_are_there,
	  .handler = count_in_handler,
	  .faults = { .signals = 1 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "stats: shards are dealt",
	  .threads = 3,
	  .about = "each thread has one of its own, as long as there are any",
	  .begin = begin_last,
	  .thread = take_shard,
	  .end = all_differ,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 1000 } },
	{ 0 },
};
