/* SPDX-License-Identifier: MIT */
/*
 * What does a lock cost that others want too?
 *
 * Threads take one lock, work for a given time under it, and think outside for no time or for
 * as long: lock_crowd.h says what one operation is and what is measured. With think:equal and
 * two threads there is work for two CPUs; with think:0 there is never more than for one, and
 * the time per operation beyond the section is what handing the lock over costs.
 *
 * "threads" are 1, 2, 4, 16, and as many as there are CPUs where they are more. Not measured:
 * more than one lock, readers and writers, a section that sleeps.
 */
#include "impls.h"
#include "lock_crowd.h"
#include "questions.h"
#include "../../tools/common/place.h"

static const int64_t sections_ns[] = { 0, 100, 1000, 10000, 100000 };

static const unsigned thread_numbers[] = { 1, 2, 4, 16 };

#define SECTIONS       (sizeof(sections_ns) / sizeof(*sections_ns))
#define THREAD_NUMBERS (sizeof(thread_numbers) / sizeof(*thread_numbers))

static void add_cell(const struct lock_crowd *cell)
{
	struct lock_crowd *c = zeroes_for_good(sizeof(*c));
	char section[DURATION_SIZE];

	*c = *cell;
	bench_add(time_lock_crowd, c, "contention/impl:%s/threads:%u/section:%s/think:%s",
		  c->peer->name, c->threads, duration(section, c->section_ns),
		  c->think_ns ? "equal" : "0");
}

static void add_threads(const struct lock_peer *peer, unsigned threads)
{
	for (unsigned i = 0; i < SECTIONS; i++) {
		struct lock_crowd c = { peer, threads, sections_ns[i], 0, false };

		add_cell(&c);
		c.think_ns = c.section_ns;
		if (c.think_ns)
			add_cell(&c);
	}
}

void add_contention(void)
{
	unsigned cpus = place_cpus(NULL, 0);

	for (const struct lock_peer *peer = lock_peers; peer->name; peer++) {
		for (unsigned i = 0; i < THREAD_NUMBERS; i++)
			add_threads(peer, thread_numbers[i]);
		if (cpus > thread_numbers[THREAD_NUMBERS - 1])
			add_threads(peer, cpus);
	}
}
