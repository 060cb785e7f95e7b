/* SPDX-License-Identifier: MIT */
#include "recycle.h"

void takes_add(struct takes *t, uint64_t found)
{
	t->count++;
	t->columns[63 - __builtin_clzll(found)]++;
}

void takes_write(const struct takes *t, struct json *j)
{
	json_open(j, "items_per_take", '[');
	for (unsigned i = 0; i < TAKES_COLUMNS; i++)
		json_whole(j, NULL, t->columns[i]);
	json_close(j, ']');
	json_whole(j, "takes", t->count);
	json_whole(j, "takes_empty", t->empty);
}
