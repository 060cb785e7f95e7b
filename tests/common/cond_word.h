/* SPDX-License-Identifier: MIT */
/* The words of a condition variable, as the tables in <ipcwait/cond.h> have them. */
#ifndef TESTS_COMMON_COND_WORD_H
#define TESTS_COMMON_COND_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/cond.h>

#define SERVED_MASK ((UINT64_C(1) << 40) - 1)

/* The order of the tables' rows. */
#define COND_WORD(served, gone, deep) \
	((uint64_t)(served) | (uint64_t)(gone) << 40 | (uint64_t)(deep) << 56)
#define COND_ARRIVALS(spinner, turn, issued) \
	((uint64_t)(spinner) | (uint64_t)(turn) << 1 | (uint64_t)(issued) << 32)

static inline uint64_t cond_word(const struct ipcwait_cond *c)
{
	return __atomic_load_n(&c->word.v, __ATOMIC_RELAXED);
}

static inline uint64_t cond_arrivals(const struct ipcwait_cond *c)
{
	return __atomic_load_n(&c->arrivals.v, __ATOMIC_RELAXED);
}

static inline bool arrivals_spinner(uint64_t a)
{
	return a & 1;
}

/* Tickets that are out, those of the gone and the dead too. */
static inline uint32_t cond_tickets(const struct ipcwait_cond *c)
{
	return (uint32_t)(cond_arrivals(c) >> 32) - (uint32_t)cond_word(c);
}

/* Turns and tickets that have not been counted out, modulo 2^31. */
static inline uint32_t cond_inside(const struct ipcwait_cond *c)
{
	uint64_t a = cond_arrivals(c);
	uint32_t out = __atomic_load_n(&c->out.v, __ATOMIC_RELAXED);

	return ((uint32_t)a / 2 + (uint32_t)(a >> 32) - out) & 0x7fffffff;
}

/* Put it in a state that is hard to reach, or that only killed processes leave. Nobody is in. */
static inline void cond_fabricate(struct ipcwait_cond *c, uint64_t word, uint64_t arrivals)
{
	__atomic_store_n(&c->word.v, word, __ATOMIC_RELAXED);
	__atomic_store_n(&c->arrivals.v, arrivals, __ATOMIC_RELAXED);
	__atomic_store_n(&c->out.v,
			 (uint32_t)arrivals / 2 - ((uint32_t)arrivals & 1) +
				 (uint32_t)(arrivals >> 32),
			 __ATOMIC_RELAXED);
}

#endif
