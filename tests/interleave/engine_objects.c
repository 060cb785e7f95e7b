/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "watch/objects.h"

/* A table that is soon full. */
#undef IW_OBJECTS
#define IW_OBJECTS 2u

#include "watch/objects.c"

/* The first two begin at the same entry. */
static const uint64_t addresses[3] = { 16, 24, 8 };

/* Notes of the test's own: the entry of each object, and how many calls have found no room. */
static struct iw_object *volatile entry[3];
static volatile unsigned none;

static void begin(void)
{
	model_share(&iw_objects, sizeof(iw_objects));
	model_name(&iw_objects.entry[0], "objects[0]");
	model_name(&iw_objects.entry[1], "objects[1]");
	for (unsigned i = 0; i < 3; i++)
		entry[i] = NULL;
	none = 0;
}

static void get(unsigned n)
{
	struct iw_object *o = iw_object_get(&iw_objects, addresses[n]);

	model_assert(iw_object_find(&iw_objects, addresses[n]) == o);
	if (!o) {
		none++;
		return;
	}
	if (!entry[n])
		entry[n] = o;
	model_assert(entry[n] == o);
	for (unsigned i = 0; i < 3; i++)
		model_assert(i == n || entry[i] != o);
}

static void get_two(unsigned i)
{
	get(i == 2);
	get(i != 2);
}

static void none_is_missed(void)
{
	model_assert(entry[0] && entry[1] && !none);
}

/* There is room for two of the three. */
static void get_more(unsigned i)
{
	get(i);
	get((i + 1) % 3);
}

static void some_are_missed(void)
{
	model_assert(!entry[0] + !entry[1] + !entry[2] == 1);
	model_assert(none == 2);
	model_assert(iw_object_at(&iw_objects, 0) && iw_object_at(&iw_objects, 1));
}

const struct model_scenario engine_objects[] = {
	{ .name = "objects: one entry each",
	  .threads = 3,
	  .about = "whoever comes first, and however many come at once",
	  .begin = begin,
	  .thread = get_two,
	  .end = none_is_missed,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "objects: a full table",
	  .threads = 3,
	  .about = "an object without an entry has none later",
	  .begin = begin,
	  .thread = get_more,
	  .end = some_are_missed,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
