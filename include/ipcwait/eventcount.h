/* SPDX-License-Identifier: MIT */
/*
 * Event count: sleep until a condition that is kept elsewhere may have become true. What makes
 * lock-free queues and the like wait.
 *
 *	struct ipcwait_eventcount changed;             // all zero
 *
 *	void put(int job) { push(job); ipcwait_eventcount_notify(&changed, 1); }
 *	int get(void)
 *	{
 *		int job;
 *
 *		while (!pop(&job)) {
 *			uint64_t key = ipcwait_eventcount_prepare(&changed);
 *
 *			if (pop(&job)) {               // look again after prepare
 *				ipcwait_eventcount_cancel(&changed);
 *				break;
 *			}
 *			if (ipcwait_eventcount_commit(&changed, key, IPCWAIT_FOREVER))
 *				abort();               // futex(2) is forbidden
 *		}
 *		return job;
 *	}
 *
 * Cost: to prepare is one load, and to cancel nothing. A notification with nobody asleep is one
 * atomic operation, in the caller, whether somebody spins or not. Any other makes at most one
 * system call, and none if all sleepers have been notified already.
 *
 * Guarantees: a condition that was changed before a notification is seen by whoever looks after
 * a later prepare, and whoever has prepared earlier does not sleep on, as far as the number goes:
 * each notification of n ends the waits of n of those that sleep, or of all if they are fewer;
 * first come, first served. It is never spent on a wait that was prepared later, nor twice on the
 * same one. Those that have prepared and do not sleep yet return in any case, without counting. A
 * commit that returns an error has used up no notification. A notification touches the event
 * count for the last time before any wait can return on account of it, so the last waiter may
 * free it at once.
 *
 * Limits: a commit may return 0 for no reason, so the condition is always looked at again. More
 * sleepers than n may be woken: as many more as have given up (a deadline, a signal) since there
 * was nobody asleep; and with more than 32 asleep those that are 32 places behind, 64, and so
 * on. 1023 sleepers at a time are woken. A waiter beyond these checks after 1 ms, and doubles that
 * time after each check, up to 2n ms when n such waiters sleep in the process. A
 * wait is missed if exactly 2^32 notifications, or a multiple of that, come between two of its
 * looks: between prepare and commit, that is, if the thread is stopped there for long enough.
 *
 * Death: a process that is killed asleep, or while it is being woken, takes a notification with
 * it. One that is killed as a notifier, before its wake, leaves those asleep that it meant to
 * wake. Whoever notifies a millisecond after the last wake wakes all and puts that right; and
 * those who sleep look after 1, 2, 4 and then every 8 seconds, but for private ones, and return
 * if anybody was notified.
 *
 * Layout: 32 bytes, the same in every process. State word: docs/design/eventcount.md.
 */
#ifndef IPCWAIT_EVENTCOUNT_H
#define IPCWAIT_EVENTCOUNT_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/*
 * eventcount.word
 *   bits 0-31   EPOCH  notifications, modulo 2^32; those of nobody too
 *   bits 32-42  HEAD   place of the first in line, modulo 2^11
 *   bits 43-52  LINE   places in line: waiters that have announced a sleep and no notification
 *                      has reached
 *   bits 53-56  GONE   places in line whose waiters have gone; 15 is that or more
 *   bits 57-63  WAKES  waiters that a notification has reached in line and that are not back yet;
 *                      127 is that or more
 *
 *   LINE GONE WAKES
 *    0    0    0     nobody sleeps               (all others 0: the all-zero state)
 *    l    g    k     l-g threads asleep, k being woken
 *   any > LINE any   never
 *
 *   e -> e+1                   notify          any thread      fast path; LINE, GONE, WAKES 0
 *   e,h,l,g,k -> e+1,h+m,l-m,  notify n        any thread      m = min(n+g, l), but 0 if n = 0 <
 *                g',k'                                         l-g, and l if g = 15 or k is stale;
 *                                                              g' = min(g, l-m), 0 if g = 15;
 *                                                              k' = k + min(n, l-g), k if g = 15;
 *                                                              stale k is 0; wake the places
 *                                                              h .. h+m-1, all if k is stale
 *   l -> l+1                   announce sleep  waiter          epoch as its key; its place is h+l
 *   k -> k-1                   leave           waiter in line  its place is before h; k stays 0
 *                                                              if it was 0
 *   g -> g+1                   leave, give up  waiter in line  its place is not; g stays 15
 *   l,g -> l-1,min(g,l-1)      give up         last in line    epoch as its key
 *   l,g,k -> 0,0,0             forget          waiter, fini    in the copy of a child of fork(2),
 *                                                              if private: before its first
 *
 * GONE may be too large: costs needless wakes. Too small while a thread sleeps is a notification
 * spent on nobody, and must be impossible but for death. WAKES may be too small: then a wake that
 * a dead process has not made is not noticed; too large: needless wakes.
 */
struct ipcwait_eventcount {
	struct ipcwait_word64 word;   /* low half: the futex */
	uint32_t flags;               /* as given to init; all ones: finished */
	uint32_t reserved;            /* private: the process that waits on it; else zero */
	struct ipcwait_window window; /* what its waits have taught */
};

/* For static initialisation. */
/* clang-format off */
#define IPCWAIT_EVENTCOUNT_INIT { { 0 }, 0, 0, { { 0 }, { 0 }, { 0 } } }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_eventcount_init() - make an event count
 * @ec:    memory for the event count, 8-byte aligned
 * @flags: 0 (usable between processes), or of IPCWAIT_PRIVATE and IPCWAIT_INTERRUPTIBLE
 *
 * Not needed for memory that is all zero. Over a live event count it forgets its waiters.
 *
 * Return: 0.
 *   -EINVAL  @ec is NULL or misaligned, or unknown @flags; @ec is unchanged
 *
 * Ordering:     none; publish @ec to other threads yourself
 * Threads:      one, before any other call on @ec
 * Processes:    any that map @ec afterwards, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_eventcount_init(struct ipcwait_eventcount *ec,
							   unsigned flags);

/**
 * ipcwait_eventcount_fini() - end an event count
 * @ec: event count that nobody uses any more
 *
 * Optional: an event count owns nothing outside its memory. Afterwards calls that would have to
 * wait or wake return -EINVAL, until ipcwait_eventcount_init().
 *
 * Return: 0.
 *   -EBUSY   somebody sleeps on @ec, or was killed doing so; it is unchanged
 *   -EINVAL  @ec is NULL, misaligned or finished
 *
 * Ordering:     none
 * Threads:      one, after every other call on @ec has returned, except notifications that
 *               have ended a wait
 * Processes:    holds for all that map @ec
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_eventcount_fini(struct ipcwait_eventcount *ec);

/**
 * ipcwait_eventcount_commit() - wait for a notification
 * @ec:          event count, initialised or all-zero
 * @key:         what ipcwait_eventcount_prepare() has returned, before the condition was
 *               looked at and found false
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Spins for the event count's learned window, then sleeps. Returns at once if there was a
 * notification since @key, even if the deadline has passed.
 *
 * Return: 0, look at the condition again: there was a notification since @key, for whomever.
 *         Any error: none was used up.
 *   -ETIMEDOUT  deadline reached
 *   -EINTR      a signal handler ran, and @ec is IPCWAIT_INTERRUPTIBLE
 *   -EINVAL     @ec is misaligned or finished
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what happened before a notification since @key
 * Threads:      any
 * Processes:    any that map @ec, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the caller may free @ec at once, even if the notification that ended its wait
 *               has not returned, but not before every other wait has
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_eventcount_commit(struct ipcwait_eventcount *ec,
							     uint64_t key,
							     int64_t deadline_ns);

/* Out-of-line rest of the inline functions below. Exported, not API. */
IPCWAIT_API int ipcwait_impl_eventcount_notify_slow(struct ipcwait_eventcount *ec,
						    uint32_t n);

/* @w in the next epoch. */
static inline uint64_t ipcwait_impl_eventcount_next(uint64_t w)
{
	return (w & ~(uint64_t)UINT32_MAX) | (uint32_t)(w + 1);
}

/**
 * ipcwait_eventcount_prepare() - be about to wait
 * @ec: event count, initialised or all-zero
 *
 * The caller then looks at its condition once more. If it is true, ipcwait_eventcount_cancel();
 * if not, ipcwait_eventcount_commit() or a wait for several objects, with the key returned
 * here.
 *
 * Return: the key, below 2^32.
 *
 * Ordering:     acquire: sees what happened before any notification that the key includes
 * Threads:      any
 * Processes:    any that map @ec, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ec must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE uint64_t
ipcwait_eventcount_prepare(const struct ipcwait_eventcount *ec)
{
	/*
	 * ORD eventcount.A1: acquire, so the caller's look comes after it and sees what came
	 * before the notifications that it includes. Pairs with eventcount.R1 and eventcount.R2,
	 * directly or through the read-modify-writes in between, which continue their release
	 * sequence.
	 */
	return (uint32_t)ipcwait_impl_load64_acquire(&ec->word);
}

/**
 * ipcwait_eventcount_cancel() - not wait after all
 * @ec: event count that the caller has prepared to wait for
 *
 * Does nothing: a waiter that has only prepared is not counted. It is there for those who read
 * the program.
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    any that map @ec, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ec must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE void ipcwait_eventcount_cancel(struct ipcwait_eventcount *ec)
{
	(void)ec;
}

/**
 * ipcwait_eventcount_notify() - end the waits of @n threads
 * @ec: event count, initialised or all-zero
 * @n:  how many of those that sleep; 0: none
 *
 * Call it after the condition was changed. Those that have prepared and do not sleep yet return
 * besides, whatever @n.
 *
 * Return: 0.
 *   -EINVAL  @ec is finished, or has sleepers and is misaligned; nobody was notified
 *
 * Ordering:     release on 0: whoever returns from a commit on account of it, or prepares
 *               afterwards, sees what came before
 * Threads:      any
 * Processes:    any that map @ec, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ec is not touched once a wait can return on account of it; a wake system call
 *               may still use its address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_eventcount_notify(struct ipcwait_eventcount *ec, uint32_t n)
{
	/* ORD eventcount.X1: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&ec->word);

	/*
	 * ORD eventcount.R1: release on success, so whoever sees the epoch sees what came before
	 * the notification. Pairs with eventcount.A1 and eventcount.A2.
	 *
	 * A read-modify-write even if nobody waits: with less, a waiter could announce its sleep
	 * without seeing the new epoch, and this call miss the waiter.
	 */
	if (IPCWAIT_IMPL_FAST(w >> 43 == 0) &&
	    IPCWAIT_LIKELY(ipcwait_impl_cas64_release(&ec->word, &w,
						      ipcwait_impl_eventcount_next(w))))
		return 0;
	return ipcwait_impl_eventcount_notify_slow(ec, n);
}

/**
 * ipcwait_eventcount_notify_all() - end all waits
 * @ec: event count, initialised or all-zero
 *
 * As ipcwait_eventcount_notify() with as many as there are.
 *
 * Return: 0.
 *   -EINVAL  @ec is finished, or has sleepers and is misaligned; nobody was notified
 *
 * Ordering:     release on 0: whoever returns from a commit on account of it, or prepares
 *               afterwards, sees what came before
 * Threads:      any
 * Processes:    any that map @ec, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_eventcount_notify()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_eventcount_notify_all(struct ipcwait_eventcount *ec)
{
	return ipcwait_eventcount_notify(ec, UINT32_MAX);
}

IPCWAIT_END_DECLS

#endif
