/* SPDX-License-Identifier: MIT */
/*
 * What a wait of played.h must come to, by the definitions in the headers and by what the object,
 * the kernel and the counter have seen.
 */
#ifndef TESTS_COMMON_EXPECTED_H
#define TESTS_COMMON_EXPECTED_H

#include "common/played.h"
#include "policy/window.h"

#define NS(ticks) ((ticks) / PLAYED_TICKS_PER_NS)
#define TICKS(ns) ((ns)*PLAYED_TICKS_PER_NS)

/* The plan, by what was there before the wait. */
struct expected {
	const struct iw_facts *facts;
	enum ipcwait_preset preset;
	bool known, polled, quick;
	unsigned share;
	enum iw_reason plan; /* why it does not spin, as far as the plan knows */
	bool earnest;        /* it is learned from */
	uint64_t delay_ns, behind_ns;
	bool timed; /* its first sleep ends by a timer, if nothing else ends it before */
	struct iw_timed_plan sleep;
};

extern struct expected want;

/* Waits of every kind, each looked at by @check. */
void expected_play(void (*check)(void));

bool expected_deadline(void);

/* @is differs from @ns by some readings of the clock at most. */
bool expected_within(int64_t is, int64_t ns, int64_t readings);

/* Ticks until the end of the spin; *@deadline: that is the wait's. */
uint64_t expected_ticks(const struct tap_spin *s, bool *deadline);

/* A spin that found it; why one was in vain; how many ticks at its end it was off its CPU. */
bool expected_found(const struct tap_spin *s);
enum iw_reason expected_why(const struct tap_spin *s);
uint64_t expected_lost(const struct tap_spin *s);
bool expected_dirty(const struct tap_spin *s);

/* It ended at its deadline without a sleep. */
bool expected_at_deadline(void);

/* A timer of the engine's was to end the sleep. */
bool expected_timer(const struct played_sleep *s);

/* When the wait began, as it is learned from. */
int64_t expected_begin(void);

#endif
