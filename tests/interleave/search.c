/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "interleave/model.h"
#include "interleave/search.h"

/*
 * One in so many decisions is an event, where chance decides; 0 for none. Another share in each
 * execution: some bugs need many events, others that nothing disturbs for long.
 */
static const unsigned event_shares[] = { 0, 64, 16, 5 };

/* With SEARCH_SCATTERED so many decisions of an execution are not usual, at most. */
#define SCATTERED_MOST 8

static struct search search;
static struct schedule taken;
static uint16_t possible[DECISIONS_MAX];
static struct schedule given; /* what to begin with, SEARCH_ALL and SEARCH_REPLAY */

static uint64_t random_state;
static unsigned priorities[MODEL_THREADS_MAX + 1];
static unsigned changes[16];
static unsigned steps, lowest, event_share, scattered;
static bool falling; /* a later change takes a thread further down, else less far */

/* SplitMix64 (Steele and others, 2014). */
static uint64_t next_random(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static unsigned below(unsigned n)
{
	return (unsigned)(next_random() % n);
}

void search_begin(const struct search *s, const struct schedule *replay)
{
	search = *s;
	given.n = 0;
	if (replay)
		given = *replay;
}

/* Every thread gets a priority of its own, and some moments are chosen at which one loses its. */
static void start_pct(void)
{
	unsigned length = search.steps ? search.steps : 1;

	for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
		priorities[i] = 100 + i;
	for (unsigned i = MODEL_THREADS_MAX; i > 0; i--) {
		unsigned j = below(i + 1), p = priorities[i];

		priorities[i] = priorities[j];
		priorities[j] = p;
	}
	for (unsigned i = 0; i + 1 < search.depth; i++)
		changes[i] = below(length);
	lowest = 99;
	falling = next_random() & 1;
}

/* Some places among the decisions; two may be one. */
static void start_scattered(void)
{
	scattered = 1 + below(SCATTERED_MOST);
	for (unsigned i = 0; i < scattered; i++)
		changes[i] = below(search.steps ? search.steps : 1);
}

void search_start(uint64_t run)
{
	taken.n = 0;
	steps = 0;
	random_state = search.seed * UINT64_C(0x2545f4914f6cdd1d) + run;
	event_share = event_shares[next_random() % 4];
	if (search.mode == SEARCH_PCT)
		start_pct();
	if (search.mode == SEARCH_SCATTERED)
		start_scattered();
}

static unsigned note(unsigned choice, unsigned n)
{
	if (taken.n == DECISIONS_MAX)
		model_fail(MODEL_LIVELOCK, "too many decisions");
	possible[taken.n] = (uint16_t)n;
	taken.taken[taken.n++] = (uint16_t)choice;
	return choice;
}

/* The next decision of the schedule that is to be repeated; the usual one behind its end. */
static unsigned given_or_usual(unsigned n)
{
	unsigned choice = taken.n < given.n ? given.taken[taken.n] : 0;

	if (search.mode == SEARCH_ALL && taken.n < given.n && possible[taken.n] != n)
		model_fail(MODEL_NONDETERMINISM, "the same decisions led elsewhere");
	return choice < n ? choice : 0;
}

static unsigned scattered_or_usual(unsigned n)
{
	for (unsigned i = 0; i < scattered; i++)
		if (changes[i] == taken.n)
			return 1 + below(n - 1);
	return 0;
}

static bool by_chance(void)
{
	return search.mode == SEARCH_PCT || search.mode == SEARCH_RANDOM;
}

/* A decision that is noted, by a search that takes the usual one for the first. */
static unsigned planned(unsigned n)
{
	if (n == 1)
		return 0;
	return note(search.mode == SEARCH_SCATTERED ? scattered_or_usual(n)
						    : given_or_usual(n),
		    n);
}

/* One of the events behind the threads, or @n for none. */
static unsigned random_event(unsigned threads, unsigned n)
{
	bool any = n > threads && event_share && below(event_share) == 0;

	return any ? threads + below(n - threads) : n;
}

static unsigned highest(const struct option *o, unsigned threads)
{
	unsigned best = 0;

	for (unsigned i = 1; i < threads; i++)
		if (priorities[o[i].thread] > priorities[o[best].thread])
			best = i;
	return best;
}

/*
 * At a change whoever would run goes below all others: further down with each change, or least far
 * with the last. In one of the two orders the first to be put back is the first to go on.
 */
static unsigned of_highest_priority(const struct option *o, unsigned threads)
{
	for (unsigned i = 0; i + 1 < search.depth; i++)
		if (changes[i] == steps)
			priorities[o[highest(o, threads)].thread] =
				falling ? lowest-- : 50 - search.depth + i;
	steps++;
	return highest(o, threads);
}

/* Threads come first among the options, the running one before the others. */
unsigned search_pick(const struct option *o, unsigned n)
{
	unsigned threads = 0, event;

	if (!by_chance())
		return planned(n);
	while (threads < n && o[threads].kind == 0)
		threads++;
	event = random_event(threads, n);
	if (event < n)
		return n == 1 ? 0 : note(event, n);
	if (search.mode == SEARCH_PCT)
		event = of_highest_priority(o, threads);
	else
		event = below(threads);
	return n == 1 ? 0 : note(event, n);
}

unsigned search_value(unsigned n)
{
	if (n <= 1)
		return 0;
	return by_chance() ? note(below(n), n) : planned(n);
}

unsigned search_rarely(unsigned n)
{
	if (by_chance() && n > 1 && (!event_share || below(event_share)))
		return note(0, n);
	return search_value(n);
}

bool search_next(void)
{
	while (taken.n && taken.taken[taken.n - 1] + 1u == possible[taken.n - 1])
		taken.n--;
	if (!taken.n)
		return false;
	taken.taken[taken.n - 1]++;
	given.n = taken.n;
	memcpy(given.taken, taken.taken, taken.n * sizeof(taken.taken[0]));
	return true;
}

double search_share(void)
{
	double share = 0, branch = 1;

	for (unsigned i = 0; i < taken.n; i++) {
		branch /= possible[i];
		share += taken.taken[i] * branch;
	}
	return share;
}

const struct schedule *search_taken(void)
{
	return &taken;
}
