/* SPDX-License-Identifier: MIT */
#include "policy/trial.h"

/*
 * Waits in one turn; shorter ones are judged by chance where many processes share two CPUs. And
 * turns until the way that was worse has one again: twice as many each time that it was worse
 * again, since each of them costs, but not so many that a partner which has moved to another CPU
 * goes unnoticed for more than some 30 ms of short waits. Measured by bench/descriptors, group
 * "pairs".
 */
#define WAITS_PER_TURN 16
#define TURNS_LEAST    4
#define TURNS_MOST     64

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void judge(struct iw_trial *t, uint64_t took)
{
	uint64_t *cost = &t->cost[t->sleeps];

	*cost = *cost ? *cost / 2 + took / 2 : took;
}

static void prefer(struct iw_trial *t, bool better)
{
	bool tried = t->sleeps != t->better;

	if (better != t->better || t->apart < TURNS_LEAST)
		t->left = t->apart = TURNS_LEAST;
	else if (tried)
		t->left = t->apart = least(t->apart, TURNS_MOST / 2) * 2;
	t->better = better;
}

/* The way of the next turn: the better, or by and by the other. */
static bool next_way(struct iw_trial *t)
{
	if (!t->cost[false] || !t->cost[true])
		return !t->cost[true];
	prefer(t, t->cost[true] < t->cost[false]);
	t->left = least(t->left, TURNS_MOST);
	t->left -= t->left != 0;
	return t->better == (t->left != 0);
}

bool iw_trial_sleeps(struct iw_trial *t, const void *on, uint64_t now)
{
	if (t->on != on)
		*t = (struct iw_trial){ .on = on };
	if (t->waits >= WAITS_PER_TURN) {
		/* A turn that ends before it began is not judged: the counter stepped back. */
		if (now > t->began_at)
			judge(t, now - t->began_at);
		t->sleeps = next_way(t);
		t->waits = 0;
	}
	if (!t->waits++)
		t->began_at = now;
	return t->sleeps;
}
