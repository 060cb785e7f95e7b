/* SPDX-License-Identifier: MIT */
/* The state word of a mutex, as the table in <ipcwait/mutex.h> has it. */
#ifndef TESTS_COMMON_MUTEX_WORD_H
#define TESTS_COMMON_MUTEX_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/mutex.h>

#define MUTEX_SLEEPERS_MOST UINT64_C(0xffff)
#define MUTEX_WORD_WAKE     (UINT64_C(1) << 16)
#define MUTEX_WORD_PROCESS  (UINT64_C(0x7fff) << 17)
#define MUTEX_WORD_OWNERS   (UINT64_C(0x3fffff) << 32)
#define MUTEX_WORD_URGENT   (UINT64_C(1) << 54)
#define MUTEX_WORD_DIED     (UINT64_C(1) << 55)
#define MUTEX_WORD_LOST     (UINT64_C(1) << 56)
#define MUTEX_WORD_QUIET    (UINT64_C(1) << 57)
#define MUTEX_WORD_PASSES   (UINT64_C(7) << 58)
#define MUTEX_WORD_TIMED    (UINT64_C(1) << 61)
#define MUTEX_WORD_CHECKED  (UINT64_C(1) << 62)
#define MUTEX_WORD_SPINNER  (UINT64_C(1) << 63)

/* Owner, WAKE, SLEEPERS: the order of the table's columns. */
#define MUTEX_WORD(owner, wake, sleepers) \
	((uint64_t)(owner) << 32 | (uint64_t)(wake) << 16 | (uint64_t)(sleepers))
#define MUTEX_WORD_PASSED(n) ((uint64_t)(n) << 58)

static inline uint64_t mutex_word(const struct ipcwait_mutex *m)
{
	return __atomic_load_n(&m->word.v, __ATOMIC_RELAXED);
}

static inline uint32_t mutex_word_owner(uint64_t w)
{
	return (uint32_t)((w & MUTEX_WORD_OWNERS) >> 32);
}

static inline uint32_t mutex_word_sleepers(uint64_t w)
{
	return (uint32_t)(w & MUTEX_SLEEPERS_MOST);
}

/* Put the mutex in a state that is hard to reach, or that only a killed process leaves. */
static inline void mutex_fabricate(struct ipcwait_mutex *m, uint64_t w)
{
	__atomic_store_n(&m->word.v, w, __ATOMIC_SEQ_CST);
}

#endif
