/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "watch/stats.c"

#define KIND    IPCWAIT_KIND_SEM
#define WATCHED 4

/* Notes of the test's own. */
static volatile unsigned counted, in_handler;
static volatile uint64_t counted_before, reasons_before; /* by other scenarios */
static volatile uint32_t shard_of[MODEL_THREADS_MAX];

static uint64_t reasons(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SHARDS; i++)
		sum += ipcwait_impl_load64_relaxed(&table.shard[i].reasons[IW_ONE_CPU]);
	return sum;
}

/* @next is the number of the next thread, and its shard if it gets one of its own. */
static void begin_with(uint32_t next)
{
	uint32_t first = next < OWN_SHARDS ? next : OWN_SHARDS;

	model_share(&table.shard[first], WATCHED * sizeof(table.shard[0]));
	model_share(&next_shard, sizeof(next_shard));
	model_name(&next_shard, "next_shard");
	next_shard.v = next;
	counted = in_handler = 0;
	counted_before = total(KIND, IW_SLEPT);
	reasons_before = reasons();
}

static void begin(void)
{
	begin_with(0);
}

static void begin_last(void)
{
	begin_with(OWN_SHARDS - 1);
}

/* The last thread before they share the first shard again. */
static void begin_shared(void)
{
	begin_with(OWN_SHARDS);
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
	in_handler++;
	count();
}

/* What a thread has counted itself it finds. */
static void count_twice(void)
{
	uint64_t before, after;

	count();
	before = total(KIND, IW_SLEPT);
	count();
	after = total(KIND, IW_SLEPT);
	model_assert(before >= 1 && after > before);
}

static void count_own(unsigned i)
{
	(void)i;
	count_twice();
}

/* More threads than shards: they all have the same one. */
static void count_shared(unsigned i)
{
	if (i != 0)
		iw_self()->shard = OWN_SHARDS + 1;
	count_twice();
}

static void all_are_there(void)
{
	model_assert(total(KIND, IW_SLEPT) == counted_before + counted);
	model_assert(reasons() == reasons_before + counted);
}

/* A handler in the middle of an addition may lose what it counted itself. */
static bool few_are_missing_of(uint64_t n)
{
	return n <= counted && n + in_handler >= counted;
}

static void few_are_missing(void)
{
	model_assert(few_are_missing_of(total(KIND, IW_SLEPT) - counted_before));
	model_assert(few_are_missing_of(reasons() - reasons_before));
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
	{ .name = "stats: own shards",
	  .threads = 3,
	  .about = "threads that add without a lock lose nothing",
	  .begin = begin,
	  .thread = count_own,
	  .end = all_are_there,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "stats: a handler counts",
	  .threads = 2,
	  .about = "in the middle of an addition, and loses one at most",
	  .begin = begin,
	  .thread = count_own,
	  .end = few_are_missing,
	  .handler = count_in_handler,
	  .faults = { .signals = 2 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "stats: no count is lost",
	  .threads = 3,
	  .about = "where threads and a handler share a shard",
	  .begin = begin_shared,
	  .thread = count_shared,
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
