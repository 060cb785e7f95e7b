/* SPDX-License-Identifier: MIT */
#ifndef TESTS_COMMON_TASK_H
#define TESTS_COMMON_TASK_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a thread of this process sleeps in the kernel, by its number there. */
static inline bool task_sleeps(int id)
{
	char path[64], state = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	(void)fclose(f);
	return state == 'S';
}

#endif
