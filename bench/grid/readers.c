/* SPDX-License-Identifier: MIT */
/*
 * What does a lock for readers and writers cost that both want?
 *
 * Threads take one lock, at random for reading or writing, and work for a given time under it; no
 * time outside. "writers" is how many of a hundred operations write: half of them is the worst for
 * such a lock, none is what it is made for. An operation is one lock and unlock with its section.
 *
 *	wait           from before the call until the lock is had, of every operation: a histogram
 *	wait_sampled   in its place where sections are shorter than 10 us: of every 16th
 *
 * The figure to look at beside the time is the 99.9th percentile: a lock that lets everybody pass
 * who runs is fast, and its sleepers pay. Not measured: several locks, sections that sleep.
 */
#include "crew.h"
#include "impls.h"
#include "meter.h"
#include "questions.h"
#include "shares.h"
#include "work.h"
#include "../common/clock.h"

#include <stdlib.h>

/* From this length of the section on every wait is measured; else one in SAMPLED. */
#define EACH_FROM_NS 10000
#define SAMPLED      16

static const int64_t sections_ns[] = { 0, 1000, 10000 };

static const unsigned writers_percent[] = { 0, 1, 10, 50 };

static const unsigned thread_numbers[] = { 2, 4, 8, 16 };

#define SECTIONS       (sizeof(sections_ns) / sizeof(*sections_ns))
#define WRITERS        (sizeof(writers_percent) / sizeof(*writers_percent))
#define THREAD_NUMBERS (sizeof(thread_numbers) / sizeof(*thread_numbers))

struct cell {
	const struct rwlock_peer *peer;
	unsigned threads, writers;
	int64_t section_ns;
};

struct member {
	_Alignas(128) uint64_t random;
	uint64_t worked;
	struct histogram wait;
};

struct crowd {
	struct lock_room lock;
	_Alignas(128) uint64_t data; /* under the lock */
	_Alignas(128) const struct rwlock_ops *ops;
	uint64_t steps, sampled;
	unsigned threads, writers;
	struct member *members;
	struct meter meter;
	struct shares shares;
	_Alignas(128) unsigned here; /* threads that have come */
	bool begun;                  /* all are here, and all counts */
	_Alignas(128) uint64_t done; /* of all */
};

/* Marsaglia's xorshift64, "Xorshift RNGs", 2003. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void take(struct crowd *c, bool writes)
{
	if (writes)
		c->ops->wrlock(&c->lock);
	else
		c->ops->rdlock(&c->lock);
}

static void operate(struct crowd *c, struct member *m, bool timed)
{
	bool writes = next_random(&m->random) % 100 < c->writers;
	int64_t begin_ns = timed ? clock_now_ns() : 0;

	take(c, writes);
	if (timed)
		histogram_add(&m->wait, (uint64_t)(clock_now_ns() - begin_ns));
	m->worked = clock_work(m->worked + c->data, c->steps);
	c->data += writes;
	c->ops->unlock(&c->lock);
}

/* Threads that are here do what does not count until the others have come. */
static void come(struct crew *crew, struct crowd *c, struct member *m)
{
	if (__atomic_add_fetch(&c->here, 1, __ATOMIC_RELAXED) == c->threads) {
		meter_begin(&c->meter);
		__atomic_store_n(&c->begun, true, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&c->begun, __ATOMIC_ACQUIRE) && !crew_is_late(crew))
		operate(c, m, false);
}

static void work(struct crew *crew, unsigned index, void *arg)
{
	struct crowd *c = arg;
	struct member *m = &c->members[index];
	uint64_t first, n;

	m->random = index + 1;
	come(crew, c, m);
	while (!crew_is_late(crew) && (n = shares_take(&c->shares, &first))) {
		for (uint64_t i = 0; i < n; i++)
			operate(c, m, (first + i) % c->sampled == 0);
		if (__atomic_add_fetch(&c->done, n, __ATOMIC_ACQ_REL) == c->shares.total)
			meter_end(&c->meter);
	}
}

static void report(struct crowd *c)
{
	struct histogram *wait = zeroes(1, sizeof(*wait));

	for (unsigned i = 0; i < c->threads; i++)
		histogram_merge(wait, &c->members[i].wait);
	bench_latency(c->meter.run, c->sampled == 1 ? "wait" : "wait_sampled", wait);
	free(wait);
}

static void time_crowd(struct bench_run *run, const void *arg)
{
	const struct cell *cell = arg;
	struct crowd *c = zeroes(1, sizeof(*c));

	c->ops = cell->peer->ops;
	c->threads = cell->threads;
	c->writers = cell->writers;
	c->steps = work_steps(cell->section_ns);
	c->sampled = cell->section_ns < EACH_FROM_NS ? SAMPLED : 1;
	c->members = zeroes(cell->threads, sizeof(*c->members));
	c->meter.run = run;
	c->meter.futexes = futexes_of(cell->peer->name);
	shares_init(&c->shares, bench_operations(run), cell->threads);
	c->ops->init(&c->lock);
	if (crew_run(c->threads, work, c))
		report(c);
	else
		bench_skip(run, "%s", crew_late());
	if (c->ops->end)
		c->ops->end(&c->lock);
	free(c->members);
	free(c);
}

static void add_cell(const struct rwlock_peer *peer, unsigned threads, unsigned writers,
		     int64_t section_ns)
{
	struct cell *c = zeroes_for_good(sizeof(*c));
	char section[DURATION_SIZE];

	*c = (struct cell){ peer, threads, writers, section_ns };
	bench_add(time_crowd, c, "readers/impl:%s/threads:%u/writers:%u/section:%s",
		  peer->name, threads, writers, duration(section, section_ns));
}

void add_readers(void)
{
	for (const struct rwlock_peer *peer = rwlock_peers; peer->name; peer++)
		for (unsigned t = 0; t < THREAD_NUMBERS; t++)
			for (unsigned w = 0; w < WRITERS; w++)
				for (unsigned s = 0; s < SECTIONS; s++)
					add_cell(peer, thread_numbers[t],
						 writers_percent[w], sections_ns[s]);
}
