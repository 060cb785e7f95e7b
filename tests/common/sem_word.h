/* SPDX-License-Identifier: MIT */
/* The state word of a semaphore, as the table in <ipcwait/sem.h> has it. */
#ifndef TESTS_COMMON_SEM_WORD_H
#define TESTS_COMMON_SEM_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/sem.h>

#define WORD_SPINNER (UINT64_C(1) << 63)

/* The order of the table's columns. */
#define WORD(value, wakes, sleepers) \
	(((uint64_t)(value) << 32) | ((uint64_t)(wakes) << 16) | (uint64_t)(sleepers))

static inline uint64_t sem_word(const struct ipcwait_sem *s)
{
	return __atomic_load_n(&s->word.v, __ATOMIC_RELAXED);
}

static inline uint32_t word_sleepers(uint64_t w)
{
	return (uint32_t)(w & 0xffff);
}

static inline uint32_t word_wakes(uint64_t w)
{
	return (uint32_t)(w >> 16 & 0xffff);
}

static inline uint32_t word_value(uint64_t w)
{
	return (uint32_t)(w >> 32 & 0x7fffffff);
}

/* Put the semaphore in a state that is hard to reach, or that only a killed process leaves. */
static inline void sem_fabricate(struct ipcwait_sem *s, uint64_t w)
{
	__atomic_store_n(&s->word.v, w, __ATOMIC_SEQ_CST);
}

#endif
