/* SPDX-License-Identifier: MIT */
/*
 * What a thread knows of the others: how much of each thread's past has happened before its
 * present (a vector clock), and for each location how new a value it has seen at least. A store
 * carries the view of its thread along; an acquiring load takes it over.
 */
#ifndef TESTS_INTERLEAVE_VIEW_H
#define TESTS_INTERLEAVE_VIEW_H

#include <stdint.h>

#include "interleave/model.h"

/* The test itself, before and after the threads. */
#define HOST  MODEL_THREADS_MAX
#define MINDS (MODEL_THREADS_MAX + 1)

#define LOCATIONS_MAX 56

struct view {
	uint16_t past[8];             /* by thread; 8, so that it is one vector register */
	uint16_t seen[LOCATIONS_MAX]; /* by location; only used by MODEL_WEAK */
};

_Static_assert(MINDS <= 8, "as many as there are clocks in a view");

static inline void view_join(struct view *to, const struct view *from, bool weak)
{
	for (int i = 0; i < 8; i++)
		if (to->past[i] < from->past[i])
			to->past[i] = from->past[i];
	for (int i = 0; weak && i < LOCATIONS_MAX; i++)
		if (to->seen[i] < from->seen[i])
			to->seen[i] = from->seen[i];
}

#endif
