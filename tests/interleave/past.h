/* SPDX-License-Identifier: MIT */
/*
 * Bugs that other libraries had, each as the smallest program that has it: the idea of the
 * algorithm, none of the code. Every one comes twice, as it was and as it was repaired. Memory
 * is freed by its last user, at once, wherever that is known to be the last.
 */
#ifndef TESTS_INTERLEAVE_PAST_H
#define TESTS_INTERLEAVE_PAST_H

#include <stdatomic.h>

#include "interleave/model.h"

/* The scenario's script: not NULL in the variant without the bug. */
static inline bool repaired(void)
{
	return model_script() != NULL;
}

static inline int sleep_while_until(_Atomic uint32_t *word, uint32_t expected,
				    int64_t deadline_ns)
{
	return model_futex_wait((const void *)word, expected, deadline_ns, false,
				UINT32_MAX);
}

static inline void sleep_while(_Atomic uint32_t *word, uint32_t expected)
{
	(void)sleep_while_until(word, expected, INT64_MAX);
}

static inline void wake(_Atomic uint32_t *word, uint32_t n)
{
	(void)model_futex_wake((const void *)word, n, false, UINT32_MAX);
}

/* A mutex without a bug, for what stands on one: 0 free, 1 taken, 2 and somebody may sleep. */
struct lock {
	_Atomic uint32_t word;
};

void lock_take(struct lock *l);
void lock_give(struct lock *l);

/* What the script of a repaired variant is. */
extern const bool past_repaired;

#define REPAIRED "the same without the bug"

extern const struct model_scenario past_mutex[], past_robust[], past_sem[], past_queue[],
	past_order[], past_cond[], past_block[];

#endif
