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
 * All who waited have been released: waits until they have let go of @c. False if somebody still
 * waits for a signal, or may.
 */
bool iw_cond_drain(struct ipcwait_cond *c);

#endif
