/* SPDX-License-Identifier: MIT */
/*
 * What a mutex has learned about its sections: whether they are so short that a look at it costs
 * the owner more than it finds, and whether a wake comes too late because others have it all the
 * time. Pure arithmetic, like policy/window.h; the argument is in docs/design/mutex.md.
 *
 * pace
 *   bits 0-5    SHORT  how many of the sections measured lately were short, of 63
 *   bits 6-11   BUSY   how many of the last sleeps the mutex was busy in, of 63
 *   bits 12-15  COUNT  locks that had to wait, modulo 16: of so many one is measured
 *   bits 16-31  BEGAN  when the section that is being measured began, in 8 ns, modulo 2^16
 */
#ifndef IW_POLICY_PACE_H
#define IW_POLICY_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* True if the section of the next lock that has to wait is to be measured. */
bool iw_pace_due(uint32_t pace);

/* One more lock that had to wait. */
uint32_t iw_pace_waited(uint32_t pace);

/* The section that is measured begins, ends at @now_ns. */
uint32_t iw_pace_began(uint32_t pace, uint64_t now_ns);
uint32_t iw_pace_ended(uint32_t pace, uint64_t now_ns);

/* A waiter has slept: @busy if others went on having the mutex meanwhile. */
uint32_t iw_pace_slept(uint32_t pace, bool busy);

/* Two looks of a spinner are so far apart at least; 0: as close as can be. */
uint64_t iw_pace_apart_ns(uint32_t pace);

/* Whoever goes to sleep would be woken too late. */
bool iw_pace_busy(uint32_t pace);

/* One more that looks, beside those who sleep, is no gain for anybody. */
bool iw_pace_full(uint32_t pace);

#endif
