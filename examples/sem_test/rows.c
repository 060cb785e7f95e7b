/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <errno.h>
#include <string.h>

const struct row rows[ROW_COUNT] = {
	[ROW_GLIBC] = { .name = "glibc",
			.what = "sem_t of the C library",
			.ops = &sem_glibc },
	[ROW_IPCWAIT] = { .name = "ipcwait",
			  .what = "libipcwait's semaphore",
			  .ops = &sem_ipcwait,
			  .counted = true },
	[ROW_SPIN] = { .name = "spin",
		       .what = "always spins for 30 us, then sleeps",
		       .ops = &sem_spin,
		       .counted = true },
	[ROW_BLOCK] = { .name = "block",
			.what = "libipcwait's, set to never spin",
			.ops = &sem_block,
			.counted = true },
	[ROW_HALTPOLL] = { .name = "haltpoll",
			   .what = "libipcwait's, spins by the rule of Linux guests",
			   .ops = &sem_haltpoll,
			   .counted = true },
	[ROW_TICKS] = { .name = "ticks",
			.what = "libipcwait's, spins for three ticks of 1 ms",
			.ops = &sem_ticks,
			.counted = true },
	[ROW_HOG] = { .name = "hog",
		      .what = "glibc, a SCHED_IDLE busy thread on each CPU",
		      .ops = &sem_glibc,
		      .company = COMPANY_HOGS },
	[ROW_AWAKE] = { .name = "awake",
			.what = "glibc, `ipcwait awake` beside it",
			.ops = &sem_glibc,
			.company = COMPANY_AWAKE },
};

static int find(const char *name, size_t length)
{
	for (int i = 0; i < ROW_COUNT; i++)
		if (strlen(rows[i].name) == length && !strncmp(rows[i].name, name, length))
			return i;
	return -1;
}

int rows_parse(const char *list, unsigned *set, const char **bad, int *bad_length)
{
	const char *name = list;

	*set = 0;
	for (;;) {
		size_t length = strcspn(name, ",");
		int i = find(name, length);

		if (i < 0) {
			*bad = name;
			*bad_length = (int)length;
			return -EINVAL;
		}
		*set |= 1u << i;
		if (!name[length])
			return 0;
		name += length + 1;
	}
}
