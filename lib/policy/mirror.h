/* SPDX-License-Identifier: MIT */
/*
 * The kernels' own rules, to be run and compared on real waits. They know nothing of B.
 *
 * haltpoll, the governor of Linux guests (drivers/cpuidle/governors/haltpoll.c), for each object in
 * the place of each CPU. With h the time halted, the poll before it not included:
 *
 *	limit < h <= most	limit = clamp(limit * grow, start, most)
 *	h > most		limit / shrink; 0 if that is below start, or shrink is 0
 *
 * ticks, the Jiny kernel's idle loop (kernel/sched_task.cc): until three timer interrupts have come
 * without work. The first comes anywhere within a tick, so it is two to three ticks.
 */
#ifndef IW_POLICY_MIRROR_H
#define IW_POLICY_MIRROR_H

#include <stdint.h>

#include "env/config.h"

/* How long to poll, if memory holds @limit_ns: never longer than the most. */
uint64_t iw_haltpoll_ns(const struct iw_haltpoll *p, uint64_t limit_ns);

/* The limit after a wait that was halted for @halted_ns beyond a poll of @limit_ns. */
uint64_t iw_haltpoll_next_ns(const struct iw_haltpoll *p, uint64_t limit_ns,
			     uint64_t halted_ns);

/* How long ticks spins from @now_ns on: until the third tick from now. */
uint64_t iw_ticks_spin_ns(uint64_t now_ns);

#endif
