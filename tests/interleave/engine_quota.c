/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "env/quota.c"

#define PARENT 7
#define CHILD  8

/* Ticks between two rounds: a reading is due in each. */
#define ROUND (2 * READ_EVERY_NS)

/* Notes of the test's own. */
static volatile unsigned readers, readings;

bool iw_cgroup_read_names(const char *root, struct iw_cgroup_names *names)
{
	(void)root;
	memset(names, 0, sizeof(*names));
	return true;
}

void iw_cgroup_find(const char *root, const struct iw_cgroup_names *names,
		    struct iw_cgroup_places *places)
{
	(void)root;
	(void)names;
	model_point();
	places->place[IW_CGROUP_V1].top = 1;
	places->place[IW_CGROUP_V2].top = 2;
}

struct iw_cgroup_limits iw_cgroup_read_limits(const struct iw_cgroup_places *places)
{
	readers++;
	model_assert(readers == 1);
	model_assert(places->place[IW_CGROUP_V1].top == 1 &&
		     places->place[IW_CGROUP_V2].top == 2);
	model_point();
	readers--;
	readings++;
	return (struct iw_cgroup_limits){ .hundredths = 100 + readings };
}

void engine_watch_quota(void)
{
	model_share(&watch, sizeof(watch));
	model_share(&turn, sizeof(turn));
	model_share(&iw_quota_word, sizeof(iw_quota_word));
	model_name(&turn, "turn");
	model_name(&iw_quota_word, "quota");
	readers = readings = 0;
	engine_process = PARENT;
}

static void refresh(uint64_t now)
{
	iw_quota_refresh(&engine_usual_facts.rate, now);
}

static void check(void)
{
	struct iw_quota q = iw_quota();

	model_assert(!q.throttled);
	model_assert(q.hundredths == 0 ||
		     (q.hundredths > 100 && q.hundredths <= 100 + readings));
}

static void read_twice(unsigned i)
{
	for (unsigned round = 0; round < 2; round++) {
		refresh(ENGINE_NOW + round * ROUND + i);
		check();
	}
}

static void last_reading_counts(void)
{
	model_assert(readings >= 1 && iw_quota().hundredths == 100 + readings);
	refresh(ENGINE_NOW + 10 * ROUND);
	model_assert(iw_quota().hundredths == 100 + readings);
	model_assert(!(turn.v & READING));
}

/* A child that was forked in the middle of a reading begins with what its parent had. */
static void child_takes_over(void)
{
	unsigned before = readings;

	readers = 0;
	engine_process = CHILD;
	refresh(ENGINE_NOW + 10 * ROUND);
	model_assert(readings == before + 1);
	model_assert(iw_quota().hundredths == 100 + readings);
}

const struct model_scenario engine_quota[] = {
	{ .name = "quota: one reads at a time",
	  .threads = 3,
	  .about = "what is kept between readings goes from reader to reader; the last "
		   "result stays",
	  .begin = engine_watch_quota,
	  .thread = read_twice,
	  .end = last_reading_counts,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "quota: a reader is gone",
	  .threads = 3,
	  .process = { 0, 1, 1 },
	  .about = "nobody else reads on what it left; a child of fork() begins anew",
	  .begin = engine_watch_quota,
	  .thread = read_twice,
	  .end = child_takes_over,
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
