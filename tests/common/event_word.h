/* SPDX-License-Identifier: MIT */
/* The state word of an event, as the table in <ipcwait/event.h> has it. */
#ifndef TESTS_COMMON_EVENT_WORD_H
#define TESTS_COMMON_EVENT_WORD_H

#include <stdint.h>

#include <ipcwait/event.h>

#define EVENT_SET         UINT64_C(1)
#define EVENT_WAKE        (UINT64_C(1) << 1)
#define EVENT_EPOCH(n)    ((uint64_t)(n) << 2)
#define EVENT_EPOCHS      EVENT_EPOCH((UINT64_C(1) << 45) - 1)
#define EVENT_SPINNER     (UINT64_C(1) << 47)
#define EVENT_SLEEPERS(n) ((uint64_t)(n) << 48)

static inline uint64_t event_word(const struct ipcwait_event *e)
{
	return __atomic_load_n(&e->word.v, __ATOMIC_RELAXED);
}

static inline unsigned event_sleepers(uint64_t w)
{
	return (unsigned)(w >> 48);
}

/* The word but for how often it was set. */
static inline uint64_t event_state(uint64_t w)
{
	return w & ~EVENT_EPOCHS;
}

/* Put the event in a state that is hard to reach, or that only a killed process leaves. */
static inline void event_fabricate(struct ipcwait_event *e, uint64_t w)
{
	__atomic_store_n(&e->word.v, w, __ATOMIC_SEQ_CST);
}

#endif
