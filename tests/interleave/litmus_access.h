/* SPDX-License-Identifier: MIT */
/* What litmus tests are made of: accesses of the orders that the test has in the table. */
#ifndef TESTS_INTERLEAVE_LITMUS_ACCESS_H
#define TESTS_INTERLEAVE_LITMUS_ACCESS_H

#include "interleave/litmus.h"
#include "interleave/model.h"

static struct litmus_memory *const m = &litmus_memory;
static unsigned *const r = litmus_register;

enum {
	RLX = __ATOMIC_RELAXED,
	ACQ = __ATOMIC_ACQUIRE,
	REL = __ATOMIC_RELEASE,
	BOTH = __ATOMIC_ACQ_REL,
	SEQ = __ATOMIC_SEQ_CST,
};

/* Compilers want the order to be a constant. */
static inline void put(uint32_t *p, uint32_t value)
{
	switch (litmus->store) {
	case SEQ:
		__atomic_store_n(p, value, SEQ);
		break;
	case REL:
		__atomic_store_n(p, value, REL);
		break;
	default:
		__atomic_store_n(p, value, RLX);
	}
}

static inline uint32_t get(const uint32_t *p)
{
	switch (litmus->load) {
	case SEQ:
		return __atomic_load_n(p, SEQ);
	case ACQ:
		return __atomic_load_n(p, ACQ);
	default:
		return __atomic_load_n(p, RLX);
	}
}

static inline void fence(void)
{
	if (litmus->fence == SEQ)
		__atomic_thread_fence(SEQ);
	if (litmus->fence == BOTH)
		__atomic_thread_fence(BOTH);
}

#endif
