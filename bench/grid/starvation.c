/* SPDX-License-Identifier: MIT */
/*
 * How long does the unluckiest wait for a lock?
 *
 * Eight threads take one lock again and again, with 1 us of work under it and none outside. Every
 * wait is measured (lock_crowd.h): "wait" is their histogram, wait_max_ns the longest. A lock that
 * is never handed to a sleeper does well in "contention" and badly here.
 *
 * The longest wait grows with the time that is looked at: --min-time 10 is what the project's
 * bound of 20 ms is for. Not measured: priorities, sections that sleep.
 */
#include "impls.h"
#include "lock_crowd.h"
#include "questions.h"

#define THREADS    8
#define SECTION_NS 1000

void add_starvation(void)
{
	for (const struct lock_peer *p = lock_peers; p->name; p++) {
		struct lock_crowd *c = zeroes_for_good(sizeof(*c));

		*c = (struct lock_crowd){ p, THREADS, SECTION_NS, 0, true };
		bench_add(time_lock_crowd, c, "starvation/impl:%s/threads:%u/section:1us",
			  p->name, THREADS);
	}
}
