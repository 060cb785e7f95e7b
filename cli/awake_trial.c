/* SPDX-License-Identifier: MIT */
#include "awake_trial.h"
#include "awake_policy.h"
#include "../tools/common/median.h"

/*
 * A wake of a polling CPU takes 2 to 3 us on the guests that were looked at, and one on metal whose
 * CPUs do not go deep hardly more. Below this there is little to gain.
 */
#define CHEAP_NS (6 * AWAKE_US)

/* Rounds that agree, of what is expected, and of a no or what contradicts this boot's findings. */
#define ROUNDS_USUAL 3u
#define ROUNDS_SURE  6u

/* A wake that differs by this factor from what was found before contradicts it. */
#define FAR 2

/*
 * Between rounds. What disturbed the first rounds, a program that has just ended above all, gets
 * time to go away: the pause doubles after round ROUNDS_USUAL. 0.3 s in all.
 */
#define PAUSE_NS      (1 * AWAKE_MS)
#define LONG_PAUSE_NS (10 * AWAKE_MS)
#define PAUSE_MOST_NS (80 * AWAKE_MS)

bool awake_wakes_cheap(const struct awake_wakes *w)
{
	return w->ns[AWAKE_HALTS] && w->ns[AWAKE_HALTS] < CHEAP_NS;
}

enum awake_answer awake_wakes_answer(const struct awake_wakes *w, enum awake_way way)
{
	if (awake_wakes_cheap(w))
		return AWAKE_NO;
	if (!w->ns[AWAKE_HALTS] || !w->ns[way])
		return AWAKE_NOT_KNOWN;
	return w->ns[way] * 4 > w->ns[AWAKE_HALTS] * 3 ? AWAKE_NO : AWAKE_YES;
}

void awake_trial_begin(struct awake_trial *t, unsigned ways,
		       const struct awake_wakes *known)
{
	*t = (struct awake_trial){ .ways = ways, .known = *known };
}

/* The median of what the rounds measured; 0 if they were too few. */
static uint64_t median_ns(const struct awake_trial *t, enum awake_way way)
{
	double ns[AWAKE_ROUNDS_MOST];
	unsigned n = 0;

	for (unsigned i = 0; i < t->rounds; i++)
		if (t->round[i].ns[way])
			ns[n++] = (double)t->round[i].ns[way];
	return n < ROUNDS_USUAL ? 0 : (uint64_t)median(ns, n);
}

/* The answer on which the rounds agree, and how many have one; AWAKE_NOT_KNOWN: they differ. */
static enum awake_answer agreed(const struct awake_trial *t, enum awake_way way,
				unsigned *n)
{
	enum awake_answer all = AWAKE_NOT_KNOWN;

	*n = 0;
	for (unsigned i = 0; i < t->rounds; i++) {
		enum awake_answer one = awake_wakes_answer(&t->round[i], way);

		if (one == AWAKE_NOT_KNOWN)
			continue;
		if (*n && one != all)
			return AWAKE_NOT_KNOWN;
		all = one;
		(*n)++;
	}
	return all;
}

static bool is_far(uint64_t ns, uint64_t known_ns)
{
	return ns && known_ns && (ns > known_ns * FAR || known_ns > ns * FAR);
}

static unsigned rounds_needed(const struct awake_trial *t, enum awake_way way,
			      enum awake_answer answer)
{
	enum awake_answer known = awake_wakes_answer(&t->known, way);
	uint64_t halted_ns = median_ns(t, AWAKE_HALTS);

	if (is_far(halted_ns, t->known.ns[AWAKE_HALTS]))
		return ROUNDS_SURE;
	if (known != AWAKE_NOT_KNOWN)
		return known == answer ? ROUNDS_USUAL : ROUNDS_SURE;
	return answer == AWAKE_YES ? ROUNDS_USUAL : ROUNDS_SURE;
}

static bool is_settled(const struct awake_trial *t, enum awake_way way)
{
	unsigned n;
	enum awake_answer answer = agreed(t, way, &n);

	return answer != AWAKE_NOT_KNOWN && n >= rounds_needed(t, way, answer);
}

static bool is_over(const struct awake_trial *t)
{
	for (unsigned way = AWAKE_HALTS + 1; way < AWAKE_WAYS; way++)
		if (t->ways >> way & 1 && !is_settled(t, way))
			return false;
	return true;
}

static bool is_known_before(const struct awake_trial *t)
{
	for (unsigned way = AWAKE_HALTS + 1; way < AWAKE_WAYS; way++)
		if (t->ways >> way & 1 &&
		    awake_wakes_answer(&t->known, way) == AWAKE_NOT_KNOWN)
			return false;
	return true;
}

enum awake_source awake_trial_wakes(const struct awake_trial *t, struct awake_wakes *w)
{
	bool over = t->rounds && is_over(t);

	*w = t->known;
	if (!over && is_known_before(t))
		return AWAKE_BEFORE;
	*w = (struct awake_wakes){ .ns = { 0 } };
	if (!over && t->rounds < AWAKE_ROUNDS_MOST)
		return AWAKE_NOWHERE;
	for (unsigned way = 0; way < AWAKE_WAYS; way++)
		w->ns[way] = median_ns(t, way);
	return w->ns[AWAKE_HALTS] ? AWAKE_ROUNDS : AWAKE_NOWHERE;
}

static uint64_t pause_ns(unsigned rounds)
{
	uint64_t ns;

	if (rounds < ROUNDS_USUAL)
		return PAUSE_NS;
	ns = (uint64_t)LONG_PAUSE_NS << (rounds - ROUNDS_USUAL);
	return ns < PAUSE_MOST_NS ? ns : PAUSE_MOST_NS;
}

uint64_t awake_trial_add(struct awake_trial *t, const struct awake_wakes *round)
{
	t->round[t->rounds++] = *round;
	return is_over(t) || t->rounds == AWAKE_ROUNDS_MOST ? 0 : pause_ns(t->rounds);
}
