/* SPDX-License-Identifier: MIT */
/* The state words of barrier, latch and once, as the tables in their headers have them. */
#ifndef TESTS_COMMON_GATES_WORD_H
#define TESTS_COMMON_GATES_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/barrier.h>
#include <ipcwait/latch.h>
#include <ipcwait/once.h>

#define BARRIER_SLEEPS (UINT64_C(1) << 32)
#define BARRIER_WORD(round, arrived, leaving) \
	((uint64_t)(round) | (uint64_t)(arrived) << 33 | (uint64_t)(leaving) << 48)

#define LATCH_WORD(count, sleepers) ((uint64_t)(count) << 32 | (uint64_t)(sleepers))

#define ONCE_SLEEPS              UINT64_C(1)
#define ONCE_DONE                UINT64_C(2)
#define ONCE_WORD(runner, birth) ((uint64_t)(runner) << 10 | (uint64_t)(birth) << 32)

static inline uint64_t gate_word(const struct ipcwait_word64 *w)
{
	return __atomic_load_n(&w->v, __ATOMIC_RELAXED);
}

static inline uint32_t barrier_round(uint64_t w)
{
	return (uint32_t)w;
}

static inline uint32_t barrier_arrived(uint64_t w)
{
	return (uint32_t)(w >> 33 & 0x7fff);
}

static inline uint32_t barrier_leaving(uint64_t w)
{
	return (uint32_t)(w >> 48);
}

static inline uint32_t latch_count(uint64_t w)
{
	return (uint32_t)(w >> 32);
}

static inline uint32_t latch_sleepers(uint64_t w)
{
	return (uint32_t)w;
}

static inline uint32_t once_runner(uint64_t w)
{
	return (uint32_t)(w >> 10 & 0x3fffff);
}

/* Put an object in a state that is hard to reach, or that only a killed process leaves. */
static inline void gate_fabricate(struct ipcwait_word64 *word, uint64_t w)
{
	__atomic_store_n(&word->v, w, __ATOMIC_SEQ_CST);
}

#endif
