/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <errno.h>
#include <string.h>

const struct row rows[ROW_COUNT] = {
	[ROW_GLIBC] = { "glibc", "sem_t of the C library", &sem_glibc },
	[ROW_IPCWAIT] = { "ipcwait", "libipcwait's semaphore", &sem_ipcwait,
			  .counted = true },
	[ROW_SPIN] = { "spin", "always spins for 30 us, then sleeps", &sem_spin,
		       .counted = true },
	[ROW_BLOCK] = { "block", "libipcwait's, set to never spin", &sem_block,
			.counted = true },
	[ROW_HALTPOLL] = { "haltpoll", "libipcwait's, spins by the rule of Linux guests",
			   &sem_haltpoll, .counted = true },
	[ROW_TICKS] = { "ticks", "libipcwait's, spins for three ticks of 1 ms", &sem_ticks,
			.counted = true },
	[ROW_HOG] = { "hog", "glibc, a SCHED_IDLE busy thread on each CPU", &sem_glibc,
		      COMPANY_HOGS },
	[ROW_AWAKE] = { "awake", "glibc, `ipcwait awake` beside it", &sem_glibc,
			COMPANY_AWAKE },
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
