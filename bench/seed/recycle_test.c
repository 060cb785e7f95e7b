/* SPDX-License-Identifier: MIT */
/* recycle_test: what it brings to take a lock, to send, or to post, once for a batch of items. */
#include "recycle.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <string.h>

const char program_name[] = "recycle_test";

static int read_numbers(int argc, char **argv, struct recycle *r)
{
	if (number_parse(argv[3], 1, BATCH_MOST, &r->give))
		return complain("BATCH: want 1 to %d, not '%s'", BATCH_MOST,
				shown(argv[3], 40));
	if (number_parse(argv[4], 1, 1000000000, &r->items))
		return complain("ITEMS: want 1 to 1000000000, not '%s'",
				shown(argv[4], 40));
	r->take = r->give;
	if (argc == 6 && strcmp(argv[5], "all") != 0 &&
	    number_parse(argv[5], 1, BATCH_MOST, &r->take))
		return complain("TAKE: want 1 to %d or 'all', not '%s'", BATCH_MOST,
				shown(argv[5], 40));
	if (argc == 6 && !strcmp(argv[5], "all"))
		r->take = 0;
	return 0;
}

static int run(struct recycle *r, int (*measure)(const struct recycle *r, struct json *j))
{
	struct json j = json_begin(stdout);
	int status = measure(r, &j);

	json_whole(&j, "items", r->items);
	json_whole(&j, "batch", r->give);
	json_end(&j);
	return status;
}

struct what {
	const char *name;
	bool has_take;
	void (*list)(void);
	const char *(*refuses)(const char *how);
	int (*measure)(const struct recycle *r, struct json *j);
};

static const struct what whats[] = {
	{ "pool", true, recycle_pool_list, recycle_pool_refuses, recycle_pool },
	{ "channel", true, recycle_channel_list, recycle_channel_refuses, recycle_channel },
	{ "post", false, recycle_post_list, recycle_post_refuses, recycle_post },
};

#define N_WHATS (sizeof(whats) / sizeof(whats[0]))

static const struct what *find(const char *name)
{
	for (unsigned i = 0; i < N_WHATS; i++)
		if (!strcmp(whats[i].name, name))
			return &whats[i];
	return NULL;
}

static int list(void)
{
	for (unsigned i = 0; i < N_WHATS; i++)
		whats[i].list();
	return 0;
}

static int read_arguments(int argc, char **argv, struct recycle *r, const struct what *w)
{
	const char *why;

	if (!w->has_take && argc == 6)
		return complain("'%s' has no TAKE", w->name);
	r->how = argv[2];
	why = w->refuses(r->how);
	if (why)
		return complain("'%s': %s", shown(argv[2], 40), why);
	return read_numbers(argc, argv, r);
}

int main(int argc, char **argv)
{
	struct recycle r = { NULL, 0, 0, 0 };
	const struct what *w = argc == 5 || argc == 6 ? find(argv[1]) : NULL;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	if (!w) {
		complain("want 'pool' LOCK BATCH ITEMS [TAKE], 'channel' NAME BATCH ITEMS "
			 "[TAKE], 'post' SEM BATCH ITEMS, or --list");
		return 2;
	}
	return read_arguments(argc, argv, &r, w) ? 2 : run(&r, w->measure);
}
