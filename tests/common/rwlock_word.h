/* SPDX-License-Identifier: MIT */
/* The state word of a reader-writer lock, as the table in <ipcwait/rwlock.h> has it. */
#ifndef TESTS_COMMON_RWLOCK_WORD_H
#define TESTS_COMMON_RWLOCK_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/rwlock.h>

#define WORD_TURN    (UINT64_C(1) << 14)
#define WORD_WAKE    (UINT64_C(1) << 29)
#define WORD_EPOCH   (UINT64_C(3) << 30)
#define WORD_TIMED   (UINT64_C(1) << 60)
#define WORD_URGENT  (UINT64_C(1) << 61)
#define WORD_SPINNER (UINT64_C(1) << 62)
#define WORD_WRITER  (UINT64_C(1) << 63)

/* @readers hold it; @writers and @sleepers, who would read, sleep. */
#define WORD(readers, writers, sleepers) \
	(((uint64_t)(readers) << 32) | ((uint64_t)(writers) << 15) | (uint64_t)(sleepers))

/* The same while a writer holds it. */
#define WRITTEN(writers, sleepers) (WORD_WRITER | WORD(0, writers, sleepers))

static inline uint64_t rwlock_word(const struct ipcwait_rwlock *l)
{
	return __atomic_load_n(&l->word.v, __ATOMIC_RELAXED);
}

static inline uint32_t word_readers(uint64_t w)
{
	return (uint32_t)(w >> 32 & IPCWAIT_RWLOCK_READERS_MAX);
}

static inline uint32_t word_rsleepers(uint64_t w)
{
	return (uint32_t)(w & 0x3fff);
}

static inline uint32_t word_wsleepers(uint64_t w)
{
	return (uint32_t)(w >> 15 & 0x3fff);
}

/* Put the lock in a state that is hard to reach, or that only a killed process leaves. */
static inline void rwlock_fabricate(struct ipcwait_rwlock *l, uint64_t w)
{
	__atomic_store_n(&l->word.v, w, __ATOMIC_SEQ_CST);
}

#endif
