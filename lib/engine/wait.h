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
 *                             ▲                   │
 *                             └─── a timer of ours, shortly before the expected end:
 *                                  spin the rest, then settle again
 */
#ifndef IW_ENGINE_WAIT_H
#define IW_ENGINE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>
#include <ipcwait/stats.h>

#include "env/facts.h"
#include "policy/reason.h"
#include "policy/window.h"

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

	/* A waiter that slept may withdraw, look on, and settle again: a wake that comes in
	 * between leaves something to see. */
	bool resumable;

	/* A signal handler that runs during a sleep does not end the wait. */
	bool restarts;

	/* Take it if it is there. The body of the spin loop: while it is not there, reads, but
	 * for a mark that is set once. */
	bool (*look)(struct iw_waiter *me);

	/* Take it if it is there, else publish that a thread sleeps on the futex word, in one
	 * atomic step. With IW_SLEEP *@expected is the value of the word to sleep on. */
	enum iw_settled (*settle)(struct iw_waiter *me, uint32_t *expected);

	/* The waiter will not be asleep any more: take it if it is there now, else unpublish.
	 * True if it was taken. */
	bool (*withdraw)(struct iw_waiter *me);

	/* Sleep once, until @deadline_ns at most, where that is not on one futex word; results
	 * as of iw_sleep_once(). NULL: iw_waiter.futex is slept on. */
	int (*sleep)(struct iw_waiter *me, uint32_t expected, int64_t deadline_ns);
};

/* One wait, on the waiter's stack. A primitive embeds it first in a struct of its own. */
struct iw_waiter {
	const struct iw_waitable *what;
	struct ipcwait_window *window;
	const uint32_t *futex;
	int64_t deadline_ns;
	bool private_;
	uint32_t bits; /* the class of wakes that reach it; 0: all */

	/* Set by the primitive, in look() and settle(). */
	bool crowded;      /* somebody else spins: do not begin to */
	int64_t alarm_ns;  /* the next sleep ends here, and not the wait; 0: no such time */
	uint64_t again_ns; /* after a sleep in vain spin for so long; 0: for the window */

	/* Set by the engine. */
	bool woken;            /* the kernel reported a wake */
	enum iw_reason reason; /* why its last spin ended in vain, or did not begin */
	enum ipcwait_preset preset;
	const struct iw_facts *facts; /* NULL: not known, neither spin nor learn */
	uint64_t block_ns;            /* B */
	uint64_t delay_ns;            /* part of the wait that this thread caused itself */
	uint64_t behind_ns;           /* by which it came late, because it was woken late */
	struct iw_plan plan;          /* made when the first looks were in vain */
};

/*
 * Wait until look(), settle() or withdraw() has taken it.
 *
 * Returns 0; -ETIMEDOUT, -EINTR; -EINVAL, -EFAULT or -ENOSYS from the kernel, which mean
 * that the object cannot be slept on and are never retried.
 */
int iw_wait(struct iw_waiter *me);

/* What came of a spin. */
struct iw_spun {
	uint64_t ns;           /* how long it took; 0 if the waiter was not admitted */
	uint64_t lost_ns;      /* at the end of it, that the thread was off its CPU */
	uint64_t window_ns;    /* time it might have spun; 0 if the first looks sufficed */
	enum iw_reason reason; /* why it ended in vain */
	bool dirty;            /* the thread was off its CPU: the length says nothing */
};

/*
 * Spin for @limit_ns, or for the window of the object if that is 0; at most until the
 * deadline. True if it was taken.
 */
bool iw_spin(struct iw_waiter *me, uint64_t limit_ns, struct iw_spun *spun);

/* Sleep in the kernel once. Returns what lib/os/futex.h lists. */
int iw_sleep_once(enum ipcwait_kind kind, const uint32_t *futex, uint32_t expected,
		  int64_t deadline_ns, bool private_);

#endif
