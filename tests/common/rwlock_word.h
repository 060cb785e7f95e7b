/* SPDX-License-Identifier: MIT */
/* The state word of a reader-writer lock, as the table in <ipcwait/rwlock.h> has it. */
#ifndef TESTS_COMMON_RWLOCK_WORD_H
#define TESTS_COMMON_RWLOCK_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/rwlock.h>

#define WORD_RWAKE   (UINT64_C(1) << 14)
#define WORD_WAKE    (UINT64_C(1) << 29)
#define WORD_EPOCH   (UINT64_C(3) << 30)
#define WORD_QUIET   (UINT64_C(1) << 57)
#define WORD_NEXT    (UINT64_C(1) << 58)
#define WORD_RURGENT (UINT64_C(1) << 59)
#define WORD_TIMED   (UINT64_C(1) << 60)
#define WORD_URGENT  (UINT64_C(1) << 61)
#define WORD_SPINNER (UINT64_C(1) << 62)
#define WORD_WRITER  (UINT64_C(1) << 63)

/* Readers, of whom one was overdue, are on their way. */
#define WORD_TURN (WORD_RWAKE | WORD_RURGENT)

/* @readers hold it; @writers and @sleepers, who would read, sleep. */
#define WORD(readers, writers, sleepers) \
	(((uint64_t)(readers) << 32) | ((uint64_t)(writers) << 15) | (uint64_t)(sleepers))

/* The same while a writer holds it. */
#define WRITTEN(writers, sleepers) (WORD_WRITER | WORD(0, writers, sleepers))

static inline uint64_t rwlock_word(const struct ipcwait_rwlock *l)
{
	return __atomic_load_n(&l->word.v, __ATOMIC_RELAXED);
}

static inline bool word_is_readers_turn(uint64_t w)
{
	return (w & WORD_TURN) == WORD_TURN;
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

/* False for words that the table calls "never". Valid only while the counts are right. */
static inline bool word_may_be(uint64_t w)
{
	if (w & WORD_WRITER && (word_readers(w) || word_is_readers_turn(w)))
		return false;
	if (w & WORD_TIMED && !(w & WORD_WRITER))
		return false;
	if (w & (WORD_RWAKE | WORD_RURGENT) && !word_rsleepers(w))
		return false;
	if (w & (WORD_WAKE | WORD_URGENT | WORD_NEXT | WORD_QUIET) && !word_wsleepers(w))
		return false;
	return w & (WORD_WRITER | WORD_RWAKE | WORD_URGENT) || !word_rsleepers(w);
}

/* Put the lock in a state that is hard to reach, or that only a killed process leaves. */
static inline void rwlock_fabricate(struct ipcwait_rwlock *l, uint64_t w)
{
	__atomic_store_n(&l->word.v, w, __ATOMIC_SEQ_CST);
}

#endif
