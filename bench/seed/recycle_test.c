/* SPDX-License-Identifier: MIT */
/* recycle_test: what it brings to take a lock, or to post, once for a batch of items. */
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

int main(int argc, char **argv)
{
	struct recycle r = { NULL, 0, 0, 0 };
	const char *why;
	bool pool;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		recycle_pool_list();
		recycle_post_list();
		return 0;
	}
	if (argc < 5 || argc > 6 || (strcmp(argv[1], "pool") && strcmp(argv[1], "post"))) {
		complain("want 'pool' LOCK BATCH ITEMS [TAKE], 'post' SEM BATCH ITEMS, or "
			 "--list");
		return 2;
	}
	pool = !strcmp(argv[1], "pool");
	if (!pool && argc == 6) {
		complain("'post' has no TAKE");
		return 2;
	}
	r.how = argv[2];
	why = pool ? recycle_pool_refuses(r.how) : recycle_post_refuses(r.how);
	if (why) {
		complain("'%s': %s", shown(argv[2], 40), why);
		return 2;
	}
	if (read_numbers(argc, argv, &r))
		return 2;
	return run(&r, pool ? recycle_pool : recycle_post);
}
