/* SPDX-License-Identifier: MIT */
/*
 * How long does the unluckiest thread wait for a lock?
 *
 * Two, four or eight threads for each CPU take one lock again and again, with 1 us or 10 us of
 * work under it and none outside. A token does the work of a lock too (peers/lock_token.c).
 * Every wait is measured (lock_crowd.h): "wait" is their histogram, wait_max_ns the longest. A
 * lock that is never handed to a sleeper does well in "contention" and badly here.
 *
 * The longest wait grows with the time of a run. crowd_grid.py, which compares libipcwait with
 * glibc, takes runs of 1 s. Not measured: priorities, sections that sleep.
 */
#include "impls.h"
#include "lock_crowd.h"
#include "questions.h"
#include "../../tools/common/place.h"

static const unsigned ratios[] = { 2, 4, 8 }; /* threads per CPU */

static const int64_t sections_ns[] = { 1000, 10000 };

#define RATIOS   (sizeof(ratios) / sizeof(*ratios))
#define SECTIONS (sizeof(sections_ns) / sizeof(*sections_ns))

static void add_cell(const struct lock_peer *peer, unsigned ratio, int64_t section_ns)
{
	struct lock_crowd *c = zeroes_for_good(sizeof(*c));
	char section[DURATION_SIZE];

	*c = (struct lock_crowd){ peer, ratio * place_cpus(NULL, 0), section_ns, 0, true };
	bench_add(time_lock_crowd, c, "starvation/impl:%s/threads_per_cpu:%u/section:%s",
		  peer->name, ratio, duration(section, section_ns));
}

static void add_all(const struct lock_peer *peers)
{
	for (const struct lock_peer *peer = peers; peer->name; peer++)
		for (unsigned i = 0; i < RATIOS; i++)
			for (unsigned k = 0; k < SECTIONS; k++)
				add_cell(peer, ratios[i], sections_ns[k]);
}

void add_starvation(void)
{
	add_all(lock_peers);
	add_all(token_peers);
}
