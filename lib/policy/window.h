/* SPDX-License-Identifier: MIT */
/*
 * What one object has learned: how long to spin on it. Pure arithmetic on the sixteen bytes of
 * struct ipcwait_window, without a clock and without system calls, so that a simulator can drive
 * the real code. The argument is in docs/design/window.md.
 *
 * window.bins
 *   bits 0-39   the lengths of its waits, lib/policy/histogram.h
 *   bits 40-63  rhythm of those in the last bin, lib/policy/rhythm.h
 *   or, with IPCWAIT_HALTPOLL, its limit in ns
 *
 * window.state
 *   bits 0-2    preset of the object, IPCWAIT_INHERIT for none
 *   bits 3-8    waits learned from, stops at 63
 *   bits 9-15   the threshold that its histogram says, in 64ths of B, at most 112
 *   bits 16-31  CPU + 1 of the last waker that woke a sleeper, 0 if unknown
 *
 * window.stamp
 *   0           no stamp
 *   else        CLOCK_MONOTONIC, as in the first time namespace, in units of 8 ns, modulo 2^32,
 *               lowest bit set
 */
#ifndef IW_POLICY_WINDOW_H
#define IW_POLICY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>

#include "policy/histogram.h"
#include "policy/rhythm.h"

/* The state, read once at the beginning of a wait. Any value is legal. */
uint32_t iw_window_state(const struct ipcwait_window *w);

/* The preset of the object, IPCWAIT_INHERIT for none. */
enum ipcwait_preset iw_state_preset(uint32_t state);

/* CPU + 1 of the last waker, 0 if unknown. */
uint32_t iw_state_waker_cpu(uint32_t state);

/* The object has waited often enough to be judged by its own waits alone. */
bool iw_state_known(uint32_t state);

/* The threshold of a known object, in 64ths of B. */
unsigned iw_state_share(uint32_t state);

/*
 * The threshold of one that is not known yet, in 64ths of B: from the waits at its call site or
 * of its kind, @before, and more and more from its own. Without any it spins twice in vain, for
 * less than B together, before it sleeps at once.
 */
unsigned iw_window_young_share(const struct ipcwait_window *w, uint64_t before);

/*
 * How long to spin for a threshold of @share, if a sleep costs @block_ns, which is B. If spinning
 * pays at all, @delay_ns is added, the part of the wait that its own thread causes; at most 7/4 B.
 */
uint64_t iw_window_spin_ns(unsigned share, uint64_t block_ns, uint64_t delay_ns);

/* Sleep on a timer, then spin for at most @spin_ns: 2B is for both spins. */
struct iw_timed_plan {
	struct iw_timed_sleep sleep;
	uint64_t spin_ns;
};

/* True if a timed sleep costs less than one until a wake, after a spin of @spin_ns. */
bool iw_window_timed(const struct ipcwait_window *w, uint64_t spin_ns, uint64_t block_ns,
		     const struct iw_timer_cost *timer, struct iw_timed_plan *plan);

/*
 * Of the waits on a known object that ended while spinning one in so many is remembered, for all:
 * whoever was that quick has better things to do.
 */
#define IW_SAMPLE_ONE_IN 8u

/*
 * Remember @n waits in @bin of the histogram, 1 to 8. @interval_ns is what its rhythm is learned
 * from, if it was a long one: its length, and by how much the waiter came late to it because its
 * wake-up from the wait before had taken so long. 0: a deadline that passed, or nobody asks for a
 * rhythm.
 */
void iw_window_record(struct ipcwait_window *w, unsigned bin, unsigned n,
		      uint64_t interval_ns);

/* In the place of all that, for IPCWAIT_HALTPOLL: its limit in ns, or whatever else is there. */
uint64_t iw_window_limit_ns(const struct ipcwait_window *w);
void iw_window_set_limit_ns(struct ipcwait_window *w, uint64_t ns);

/* For people: how many of its waits are in a bin. */
unsigned iw_window_count(const struct ipcwait_window *w, unsigned bin);

/* A waker on @cpu is about to wake a sleeper, at @now_ns of iw_clock_common(). */
void iw_window_put_stamp(struct ipcwait_window *w, uint64_t now_ns, uint32_t cpu);

/* Its waker is not on that CPU any more: nobody knows where. */
void iw_window_forget_cpu(struct ipcwait_window *w);

/* The last stamp was put before @at_ns, at most 17 s ago. */
bool iw_window_stamp_before(const struct ipcwait_window *w, uint64_t at_ns);

/*
 * How long before @now_ns the last stamp was put, in ns. False if there is none or if it
 * is older than @since_ns before now, that is, from an earlier wait.
 */
bool iw_window_stamp_age(const struct ipcwait_window *w, uint64_t now_ns, uint64_t since_ns,
			 uint64_t *age_ns);

#endif
