/* SPDX-License-Identifier: MIT */
/*
 * A wait on a condition variable without its mutex, for whoever brings another lock: enter while
 * the lock is held, unlock it, await, lock it again. docs/design/cond.md
 */
#ifndef IW_SYNC_COND_WAIT_H
#define IW_SYNC_COND_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/cond.h>

#include "engine/wait.h"
#include "engine/wake.h"
#include "sync/cond_word.h"

/* One thread in one wait: the spinner, or the holder of a ticket. */
struct iw_cond_waiter {
	struct iw_waiter base;
	struct ipcwait_cond *cond;
	uint32_t turn;   /* the spinner's SPINNER and TURN; 0: it has a ticket */
	uint32_t taken;  /* turns and tickets, to be counted in out */
	uint64_t ticket; /* 40 bits */
};

/*
 * @me, all zero, waits on @c, which is usable: from here on a signal can release it. @site as in
 * struct iw_waiter.
 */
void iw_cond_enter(struct iw_cond_waiter *me, struct ipcwait_cond *c, int64_t deadline_ns,
		   uintptr_t site);

/*
 * Wait until a signal has released @me, as iw_wait(). The condition variable may be gone
 * afterwards.
 */
int iw_cond_await(struct iw_cond_waiter *me);

/*
 * In the place of the wait, or from within its sleep: nothing has happened. A signal that has
 * released @me meanwhile goes to somebody else.
 */
void iw_cond_take_back(struct iw_cond_waiter *me);

/*
 * ipcwait_cond_signal() and ipcwait_cond_broadcast() on @c, which is usable. The wake of those who
 * sleep is left in @due, for iw_make_wake(), if @due is not NULL and there are sleepers.
 */
void iw_cond_signal_due(struct ipcwait_cond *c, struct iw_due_wake *due);
void iw_cond_broadcast_due(struct ipcwait_cond *c, struct iw_due_wake *due);

/*
 * Nobody waits, so that a signal or broadcast on @c, if it is private, has nobody to release. In
 * this order: SERVED only grows.
 */
static inline bool iw_cond_is_idle(const struct ipcwait_cond *c)
{
	/* ORD cond_wait.A1: acquire, so that ISSUED is not older than SERVED, as cond_wake.A1.
	 * Pairs with cond_wake.R2, cond_wake.R3 and cond.R1. */
	uint64_t w = ipcwait_impl_load64_acquire(&c->word);
	/* ORD cond_wait.X1: relaxed, no order needed: who waits for this signal is in it. */
	uint64_t a = ipcwait_impl_load64_relaxed(&c->arrivals);

	return !(a & COND_SPINNER) && !cond_waiting(w, a);
}

/*
 * Waits until all who were released have let go of @c; not if somebody still waits for a signal.
 */
void iw_cond_drain(struct ipcwait_cond *c);

#endif
