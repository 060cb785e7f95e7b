/* SPDX-License-Identifier: MIT */
/* What is decided before a wait: whether to spin, and for how long. */
#ifndef IW_ENGINE_PLAN_H
#define IW_ENGINE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/wait.h"
#include "policy/reason.h"

/*
 * True unless a look or two is known to be in vain: the wait is not long as a rule, and the thread
 * had a second CPU for its partners the last time. Sets the waiter's state and preset.
 */
bool iw_plan_worth_a_look(struct iw_waiter *me);

/* Why the waiter does not spin at all; IW_NO_REASON: it may. Sets its share. */
enum iw_reason iw_plan(struct iw_waiter *me);

/* The waiter has to spin or sleep in earnest: what a sleep costs, and what it caused itself. */
void iw_plan_costs(struct iw_waiter *me);

/*
 * Why it may not spin any longer than a few looks, at @now in ticks: too much was in vain lately,
 * or it is time to measure a sleep.
 */
enum iw_reason iw_plan_admit(const struct iw_waiter *me, uint64_t now);

/*
 * How long it spins, in ns: by its preset, learned or fixed, or for @limit_ns if that is not 0; and
 * below the ceiling, but for the rules of the kernel.
 */
uint64_t iw_plan_window_ns(const struct iw_waiter *me, uint64_t limit_ns);

/*
 * A waiter that would not spin was woken, and another has taken what it was woken for. It has
 * waited for @waited_ns, of which it spun for @spun_ns: how long it spins now, in ns, because it is
 * overdue; 0: it is not.
 */
uint64_t iw_plan_overdue_ns(const struct iw_waiter *me, uint64_t waited_ns,
			    uint64_t spun_ns);

/* The longest spin of a known object, in ns. */
uint64_t iw_plan_longest_ns(const struct iw_waiter *me);

/* True if it sleeps on a timer after a spin of @spun_ns, and how. */
bool iw_plan_timed(const struct iw_waiter *me, uint64_t spun_ns,
		   struct iw_timed_plan *plan);

/*
 * Learn from a wait of @wait_ns that slept, after @spun_ns: @ended, or given up after so long.
 * From one that did not: 0 is less than any that was measured.
 */
void iw_plan_learn_slept(struct iw_waiter *me, uint64_t wait_ns, uint64_t spun_ns,
			 bool ended);
void iw_plan_learn_spun(struct iw_waiter *me, uint64_t wait_ns);

/*
 * The wait ended @late_ns ago. The next one on the object may be regular only if counted from the
 * end of this one.
 */
void iw_plan_note_lateness(const struct iw_waiter *me, uint64_t late_ns);

#endif
