/* SPDX-License-Identifier: MIT */
/*
 * The one road down. A primitive decides WHAT to wait for and says so with three
 * functions; the engine decides how long to spin and when to sleep. No primitive has a
 * waiting loop of its own, and nothing else in the library sleeps.
 *
 *   look ──► away ──► look again ... until the window is over           (spin.c)
 *     │                        │
 *     ▼                        ▼
 *   taken ◄── there ── settle ──► how to rest ──► futex ──► woken ──► look again
 *                                                   │
 *                            withdraw ◄── deadline, error               (wait.c)
 *                               ▲                   │
 *                               └─── a timer of ours, shortly before the expected end:
 *                                    spin what is left, then settle again
 */
#ifndef IW_ENGINE_WAIT_H
#define IW_ENGINE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>
#include <ipcwait/stats.h>

#include "env/facts.h"
#include "os/futex_waitv.h"
#include "policy/reason.h"
#include "policy/window.h"

struct iw_waiter;

/* What a look has shown. */
enum iw_seen {
	IW_AWAY,           /* not there */
	IW_THERE,          /* it was there, and is the caller's */
	IW_AWAY_CROWDED,   /* not there, and another thread spins for it already: do not */
	IW_AWAY_OVERTAKEN, /* not there, and others came first too often: spin no longer */
};

/* How to rest: what settle() answers. Begin with one of the functions below. */
struct iw_rest {
	/* It was there after all, and is the caller's. */
	bool taken;

	/* If this sleep is in vain, a spin before the next may pay. */
	bool may_spin;

	/*
	 * Sleep while *@word is @expected, until a wake of a class in @bits, or of any if that is
	 * 0. NULL: there was no room to publish the sleeper, and nobody will wake it; so it looks
	 * again after a millisecond, later if there are many.
	 */
	const uint32_t *word;
	uint32_t expected;
	uint32_t bits;

	/* The sleep ends then at the latest, and not the wait. */
	int64_t until_ns;

	/* The length of the spin after it; 0: the window. */
	uint64_t spin_ns;

	/* Above 1: sleep on so many words, of which @word is the first. */
	unsigned n;
	const struct iw_waitv *several;
};

static inline struct iw_rest iw_rest_on(const uint32_t *word, uint32_t expected)
{
	return (struct iw_rest){
		.may_spin = true,
		.word = word,
		.expected = expected,
		.until_ns = IPCWAIT_FOREVER,
	};
}

static inline struct iw_rest iw_rest_unpublished(void)
{
	return iw_rest_on(NULL, 0);
}

static inline struct iw_rest iw_rest_taken(void)
{
	return (struct iw_rest){ .taken = true };
}

/*
 * What the engine asks of a primitive. Called without any lock; must not wait (but for who mends a
 * copy that fork(2) has made, sync/copy.h), and touch nothing but the object and the waiter.
 */
struct iw_waitable {
	enum ipcwait_kind kind;

	/* A waiter that slept may withdraw, look on, and settle again: a wake that comes in
	 * between leaves something to see. */
	bool resumable;

	/*
	 * It is something of the kernel's, a descriptor: a look is a system call, no waker leaves a
	 * stamp, and the sleep itself looks first. docs/design/descriptors.md
	 */
	bool in_kernel;

	/* Take it if it is there. The body of the spin loop: while it is not there, reads, but
	 * for a mark that it sets where it finds it missing. */
	enum iw_seen (*look)(struct iw_waiter *me);

	/* Take it if it is there, else publish that a thread sleeps, in one atomic step. */
	struct iw_rest (*settle)(struct iw_waiter *me);

	/* The waiter will not be asleep any more: take it if it is there now, else unpublish.
	 * True if it was taken. NULL: nothing of it is published, and a look will do. */
	bool (*withdraw)(struct iw_waiter *me);
};

/*
 * A call of another library that sleeps has its thread queued in the kernel after this, in ns,
 * unless the thread is switched out before: 0.2 to 0.8 us in `sem_test` on the project's guest. A
 * wake that comes earlier may have found nobody, and then cost next to nothing.
 */
#define IW_ENTRY_NS 2000

/* One wait, on the waiter's stack. A primitive embeds it first in a struct of its own. */
struct iw_waiter {
	const struct iw_waitable *what;
	struct ipcwait_window *window;
	const uint32_t *futex; /* changes when it comes; NULL: no such word */
	int64_t deadline_ns;
	uintptr_t site;    /* where in the program: the return address; 0: not known */
	uint64_t apart_ns; /* two looks are so far apart at least; 0: as close as can be */

	/*
	 * Sleeps once, as iw_sleep_as(), where the kernel's futex alone is not what is to be slept
	 * in: another library's lock, or a cancellation point, which may not return. NULL: the
	 * futex.
	 */
	int (*sleep)(struct iw_waiter *me, const struct iw_rest *rest, int64_t until_ns);

	bool private_;
	bool interruptible; /* a signal handler ends the wait; so it does not spin */
	bool mortal;        /* whoever ends the wait may be killed before the wake */

	/* Set by the engine. */
	bool woken;        /* the kernel reported a wake, at the end of the last sleep */
	unsigned woken_on; /* which of several words it was for */
	enum iw_reason reason; /* why its last spin ended in vain, or did not begin */
	bool expects_mover;    /* its waker is on its way to another CPU */
	enum ipcwait_preset preset;
	const struct iw_facts *facts; /* NULL: not known, neither spin nor learn */
	uint32_t state;               /* of the window, when the wait began */
	unsigned share;               /* threshold of its spins, in 64ths of B */
	uint64_t block_ns;            /* B */
	uint64_t delay_ns;            /* part of the wait that this thread caused itself */
	uint64_t behind_ns;           /* by which it came late, because it was woken late */
	int64_t alarm_ns; /* the sleep that its last alarm, or look, ended; 0: none */
};

/*
 * A waiter is overdue after this number of block/wake pairs, if that is longer than @least_ns. What
 * it may take then, one pair in which a lock stays idle for it or one spin, is 1/20 of the time.
 */
#define IW_PATIENCE_BLOCKS 20

static inline int64_t iw_patience_ns(int64_t least_ns, uint64_t block_ns)
{
	int64_t blocks_ns = (int64_t)(IW_PATIENCE_BLOCKS * block_ns);

	return blocks_ns > least_ns ? blocks_ns : least_ns;
}

/* In a public function: where the program called it, for iw_waiter.site. */
#define IW_CALL_SITE ((uintptr_t)__builtin_return_address(0))

/*
 * Wait until look(), settle() or withdraw() has taken it.
 *
 * Returns 0; -ETIMEDOUT; -EINTR if the waiter is interruptible; -EINVAL, -EFAULT or -ENOSYS from
 * the kernel, which mean that the object cannot be slept on and are never retried.
 */
int iw_wait(struct iw_waiter *me);

#endif
