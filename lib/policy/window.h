/* SPDX-License-Identifier: MIT */
/*
 * The learned window: how long to spin on one object. Pure arithmetic on the sixteen bytes
 * of struct ipcwait_window, without a clock and without system calls, so that a simulator
 * can drive the real code. The argument is in docs/design/window.md.
 *
 * window.bins
 *   bits 5i .. 5i+4   how many of the remembered waits had a length in bin i
 *   bin 0 .. 6        below 1/16, 1/8, 1/4, 1/2, 3/4, 1, 7/4 of B, and not in an earlier one
 *   bin 7             7/4 B and more
 *   bits 40-63        rhythm of the waits in bin 7, lib/policy/rhythm.h
 *
 * window.state
 *   bits 0-7    preset of the object, IPCWAIT_INHERIT for none
 *   bits 8-15   waits learned from, stops at 255
 *   bits 16-31  CPU + 1 of the last waker that woke a sleeper, 0 if unknown
 *
 * window.stamp
 *   0           no stamp
 *   else        CLOCK_MONOTONIC in units of 8 ns, modulo 2^32, lowest bit set
 */
#ifndef IW_POLICY_WINDOW_H
#define IW_POLICY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>

#include "policy/rhythm.h"

#define IW_WINDOW_BINS 8

/* How to wait: spin, then sleep until a timer and spin again if @timed, then sleep. */
struct iw_plan {
	uint64_t spin_ns;
	bool timed;
	struct iw_timed_sleep sleep;
	uint64_t spin_again_ns; /* at most, after the timed sleep: 2B is for both spins */
};

/*
 * The plan that costs least in expectation over the remembered waits, if sleeping costs
 * @block_ns, which is B. The spin is at least B/8 while little is known, and at most 7/4 B, so
 * that 2B are not exceeded with a jitter of an eighth. If spinning pays at all, @delay_ns is
 * added, the part of the wait that its own thread causes. @timer is NULL where sleeps are
 * not to be timed.
 */
void iw_window_plan(const struct ipcwait_window *w, uint64_t block_ns, uint64_t delay_ns,
		    const struct iw_timer_cost *timer, struct iw_plan *plan);

/*
 * Remember a wait of @wait_ns, with the @block_ns that its object's next choice will have.
 * The waiter came @behind_ns late to it, because its wake-up from the wait before had taken so
 * long: what comes at regular times was then to be expected sooner.
 */
void iw_window_record(struct ipcwait_window *w, uint64_t wait_ns, uint64_t behind_ns,
		      uint64_t block_ns);

/*
 * Remember a wait that was given up after 2B or more. When it would have ended is not known: a
 * deadline that always passes is no rhythm.
 */
void iw_window_record_unended(struct ipcwait_window *w);

/* The preset of the object, IPCWAIT_INHERIT for none or for a value that makes no sense. */
enum ipcwait_preset iw_window_preset(const struct ipcwait_window *w);

/* For people: how many remembered waits are in a bin, and what they are shorter than. */
unsigned iw_window_count(const struct ipcwait_window *w, unsigned bin);
uint64_t iw_window_edge_ns(unsigned bin, uint64_t block_ns);

/* CPU + 1 of the last waker, 0 if unknown. */
uint32_t iw_window_waker_cpu(const struct ipcwait_window *w);

/* A waker on @cpu is about to wake a sleeper, at @now_ns on CLOCK_MONOTONIC. */
void iw_window_put_stamp(struct ipcwait_window *w, uint64_t now_ns, uint32_t cpu);

/*
 * How long before @now_ns the last stamp was put, in ns. False if there is none or if it
 * is older than @since_ns before now, that is, from an earlier wait.
 */
bool iw_window_stamp_age(const struct ipcwait_window *w, uint64_t now_ns, uint64_t since_ns,
			 uint64_t *age_ns);

#endif
