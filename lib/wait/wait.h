/* SPDX-License-Identifier: MIT */
/*
 * The one road down. A primitive decides WHAT to wait for and says so with three
 * functions; the engine decides how long to spin and when to sleep. No primitive has a
 * waiting loop of its own, and nothing else in the library sleeps.
 *
 *   look ──► not there ──► look again ... until the window is over      (spin.c)
 *     │                        │
 *     ▼                        ▼
 *   taken ◄── there ── settle ──► published ──► futex ──► woken ──► look again
 *                                                 │
 *                          withdraw ◄── deadline, signal, error         (wait.c)
 */
#ifndef IW_WAIT_WAIT_H
#define IW_WAIT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>
#include <ipcwait/stats.h>

#include "env/facts.h"

struct iw_waiter;

enum iw_settled {
	IW_TAKEN, /* it was there after all, and is the caller's */
	IW_SLEEP, /* the sleeper is published: sleep until a wake */
	IW_NAP,   /* there was no room to publish it: look again in a millisecond */
};

/*
 * What the engine asks of a primitive. Called without any lock; must not wait, and touch
 * nothing but the object and the waiter.
 */
struct iw_waitable {
	enum ipcwait_kind kind;

	/* Take it if it is there. The body of the spin loop: while it is not there, reads, but
	 * for a mark that is set once. */
	bool (*look)(struct iw_waiter *me);

	/* Take it if it is there, else publish that a thread sleeps on the futex word, in one
	 * atomic step. With IW_SLEEP *@expected is the value of the word to sleep on. */
	enum iw_settled (*settle)(struct iw_waiter *me, uint32_t *expected);

	/* The wait ends without success: take it if it is there now, else unpublish. True if
	 * it was taken. */
	bool (*withdraw)(struct iw_waiter *me);
};

/* One wait, on the waiter's stack. A primitive embeds it first in a struct of its own. */
struct iw_waiter {
	const struct iw_waitable *what;
	struct ipcwait_window *window;
	const uint32_t *futex;
	int64_t deadline_ns;
	bool private_;

	/* Set by the engine. */
	bool woken; /* the kernel reported a wake */
	enum ipcwait_preset preset;
	const struct iw_facts *facts; /* NULL: not known, neither spin nor learn */
	uint64_t block_ns;            /* B */
	uint64_t delay_ns;            /* part of the wait that this thread caused itself */
};

/*
 * Wait until look(), settle() or withdraw() has taken it.
 *
 * Returns 0; -ETIMEDOUT, -EINTR; -EINVAL, -EFAULT or -ENOSYS from the kernel, which mean
 * that the object cannot be slept on and are never retried.
 */
int iw_wait(struct iw_waiter *me);

/*
 * Spin for the window of the object, at most until the deadline. True if it was taken.
 * *@spun_ns is the time spun, 0 if the waiter was not admitted.
 */
bool iw_spin(struct iw_waiter *me, uint64_t *spun_ns);

/* Sleep in the kernel once. Returns what lib/os/futex.h lists. */
int iw_sleep_once(enum ipcwait_kind kind, const uint32_t *futex, uint32_t expected,
		  int64_t deadline_ns, bool private_);

/*
 * A waker is about to publish what a sleeper waits for. Returns the time for iw_wake(),
 * 0 if there is nothing to learn. Async-signal-safe.
 */
uint64_t iw_stamp(struct ipcwait_window *w);

/* True if the last stamp is so young that its wake may still be under way. */
bool iw_stamp_fresh(const struct ipcwait_window *w);

/*
 * Wake up to @count sleepers and learn what it cost since @begin_ns, if that is not 0. Uses
 * only the address: the object may be gone. Async-signal-safe. Returns the number woken or a
 * negative errno.
 */
int iw_wake(enum ipcwait_kind kind, const uint32_t *futex, uint32_t count, bool private_,
	    uint64_t begin_ns);

#endif
