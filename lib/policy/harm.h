/* SPDX-License-Identifier: MIT */
/*
 * Spins that went wrong: the thread was switched out in the middle of one, or the hypervisor
 * took the CPU away. Whoever was to end the wait may have lost its CPU to the spinner. Each
 * such event halves the longest that the thread may spin from then on, each quiet second
 * doubles it again. That bound begins at 2B: a window of B is as long after the first event.
 *
 * Kept per thread and not per object: it is the CPUs that are short, whatever is waited for.
 */
#ifndef IW_POLICY_HARM_H
#define IW_POLICY_HARM_H

#include <stdint.h>

#include "env/facts.h"

/* A spin of this thread was broken off at @now, in ticks. */
void iw_harm_note(const struct iw_facts *facts, uint64_t now);

/* By how many powers of two spins of this thread are to be shortened at @now. */
unsigned iw_harm_level(const struct iw_facts *facts, uint64_t now);

#endif
