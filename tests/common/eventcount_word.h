/* SPDX-License-Identifier: MIT */
/* The state word of an event count, as the table in <ipcwait/eventcount.h> has it. */
#ifndef TESTS_COMMON_EVENTCOUNT_WORD_H
#define TESTS_COMMON_EVENTCOUNT_WORD_H

#include <stdint.h>

#include <ipcwait/eventcount.h>

/* The order of the table's columns. */
#define EC_WORD(epoch, head, line, gone, wakes)                                \
	((uint32_t)(epoch) | (uint64_t)(head) << 32 | (uint64_t)(line) << 43 | \
	 (uint64_t)(gone) << 53 | (uint64_t)(wakes) << 57)

static inline uint64_t ec_word(const struct ipcwait_eventcount *ec)
{
	return __atomic_load_n(&ec->word.v, __ATOMIC_RELAXED);
}

static inline unsigned ec_line(uint64_t w)
{
	return (unsigned)(w >> 43 & 0x3ff);
}

static inline unsigned ec_gone(uint64_t w)
{
	return (unsigned)(w >> 53 & 0xf);
}

static inline unsigned ec_wakes(uint64_t w)
{
	return (unsigned)(w >> 57);
}

/* Whoever sleeps, or is on the way. */
static inline bool ec_busy(uint64_t w)
{
	return ec_line(w) > ec_gone(w) || ec_wakes(w);
}

/* Put the event count in a state that is hard to reach, or that only a killed process leaves. */
static inline void ec_fabricate(struct ipcwait_eventcount *ec, uint64_t w)
{
	__atomic_store_n(&ec->word.v, w, __ATOMIC_SEQ_CST);
}

#endif
