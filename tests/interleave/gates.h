/* SPDX-License-Identifier: MIT */
/* Barrier, latch and once: what threads do with them, and what must hold whatever they do. */
#ifndef TESTS_INTERLEAVE_GATES_H
#define TESTS_INTERLEAVE_GATES_H

#include "interleave/engine.h"
#include "interleave/model.h"

/* Long enough not to expire before somebody could run, in ns. */
#define GATES_SOON_NS 500000

extern const struct model_scenario gates_barrier[], gates_latch[], gates_once[];

/* How many threads belong to processes that have been killed. */
static inline unsigned gates_deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

#endif
