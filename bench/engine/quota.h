/* SPDX-License-Identifier: MIT */
/*
 * A control group with a CPU quota, below the one this process is in: version 1 with the cpu
 * controller, or version 2 where cpu is already delegated to groups below. Nothing that
 * exists is changed.
 */
#ifndef WAIT_BENCH_QUOTA_H
#define WAIT_BENCH_QUOTA_H

#include <stddef.h>

/*
 * Make the group, whose folder is then @group, for @percent of one CPU.
 *
 * Return: 0, or -1 with the reason in @why.
 */
int quota_make(unsigned percent, char *group, size_t group_size, char *why,
	       size_t why_size);

/* Move the calling process into it. Return: 0, or -errno. */
int quota_join(const char *group);

/* Nobody may be in it any more. Nothing if @group is empty. */
void quota_remove(const char *group);

#endif
