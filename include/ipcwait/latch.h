/* SPDX-License-Identifier: MIT */
/*
 * Latch: threads wait until something has been done a number of times. It opens once.
 *
 *	static struct ipcwait_latch parts = IPCWAIT_LATCH_INIT(8);
 *
 *	void worker(void) { do_one_part(); ipcwait_latch_count_down(&parts, 1); }
 *	void collect(void)
 *	{
 *		ipcwait_latch_wait(&parts);            // until all eight are done
 *		use_the_parts();
 *	}
 *
 * Cost: counting down is one atomic operation, in the caller. Waiting for a latch that is
 * open is one load, in the caller. The count-down that opens the latch makes one system call
 * if somebody sleeps, however many do, and none if all spin.
 *
 * Guarantees: who has waited sees what came before each count-down. An open latch stays
 * open. A count-down touches the latch for the last time before any wait can return on account
 * of it, so the last of the waiters may free the latch at once.
 *
 * Limits: counts up to IPCWAIT_LATCH_COUNT_MAX.
 *
 * Death: a process that is killed before it counts down leaves the others waiting; who has to
 * expect that, waits with a deadline. If the process is killed after it has opened the latch
 * and before it has woken those who sleep, they return nevertheless: they look after 1, 2, 4
 * and then every 8 seconds, but for private latches. A waiter that is killed asleep costs a
 * needless wake, and makes ipcwait_latch_fini() return -EBUSY until the latch opens.
 *
 * Layout: 32 bytes, the same in every process. State word: docs/design/gates.md.
 */
#ifndef IPCWAIT_LATCH_H
#define IPCWAIT_LATCH_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/* Largest count. */
#define IPCWAIT_LATCH_COUNT_MAX 0x7fffffff

/*
 * latch.word
 *   bits 0-31   SLEEPERS  waiters that have announced a sleep and not yet come back
 *   bits 32-62  COUNT     how many times it has to be counted down until it opens
 *   bit 63      zero
 *
 *   COUNT SLEEPERS
 *     0      0      open: all-zero
 *     c      0      closed, nobody sleeps
 *     c      s      closed, s threads asleep
 *     0      s      never
 *
 *   c -> c-n        count down      any thread        fast path; nobody sleeps
 *   c,s -> c-n,s    count down      any thread        n < c
 *   c,s -> 0,0      open            any thread        n = c; wake all if s > 0
 *   c,s -> c,s+1    announce sleep  waiter            closed only
 *   c,s -> c,s-1    give up         counted waiter    closed only
 *   c,s -> c,0      forget          waiter, fini      in the copy of a child of fork(2), if
 *                                                     private: before its first
 *
 * SLEEPERS may be too large (a waiter was killed): costs a needless wake. Too small while a
 * thread sleeps is a lost wake-up and must be impossible: only the sleeper itself, and the
 * opening, take it out.
 */
struct ipcwait_latch {
	struct ipcwait_word64 word;   /* low half: the futex */
	uint32_t flags;               /* as given to init; all ones: finished */
	uint32_t reserved;            /* private: the process that waits on it; else zero */
	struct ipcwait_window window; /* what its waits have taught */
};

#define IPCWAIT_IMPL_LATCH_COUNT_ONE (UINT64_C(1) << 32)

/* A latch with @count to go, for static initialisation. */
/* clang-format off */
#define IPCWAIT_LATCH_INIT(count) \
	{ { (uint64_t)(count) << 32 }, 0, 0, { { 0 }, { 0 }, { 0 } } }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_latch_init() - make a latch with @count to go
 * @l:     memory for the latch, 8-byte aligned
 * @count: how many times it has to be counted down; 0: it is open
 * @flags: 0 (usable between processes) or IPCWAIT_PRIVATE
 *
 * Memory that is all zero is an open latch. Over a live latch it forgets its waiters; one that
 * all waits have returned from may be used again.
 *
 * Return: 0.
 *   -EINVAL  @l is NULL or misaligned, @count is above IPCWAIT_LATCH_COUNT_MAX, or unknown
 *            @flags; @l is unchanged
 *
 * Ordering:     none; publish @l to other threads yourself
 * Threads:      one, before any other call on @l
 * Processes:    any that map @l afterwards, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_latch_init(struct ipcwait_latch *l,
						      uint32_t count, unsigned flags);

/**
 * ipcwait_latch_fini() - end a latch
 * @l: latch that nobody uses any more
 *
 * Optional: a latch owns nothing outside its memory. Afterwards calls other than
 * ipcwait_latch_trywait() and ipcwait_latch_count() return -EINVAL, until ipcwait_latch_init().
 *
 * Return: 0.
 *   -EBUSY   somebody sleeps on @l, or was killed doing so; it is unchanged
 *   -EINVAL  @l is NULL, misaligned or finished
 *
 * Ordering:     none
 * Threads:      one, after every other call on @l has returned, except count-downs, once a wait
 *               has returned
 * Processes:    holds for all that map @l
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_latch_fini(struct ipcwait_latch *l);

/**
 * ipcwait_latch_wait_until() - wait until the latch is open, giving up at @deadline_ns
 * @l:           latch, initialised or all-zero
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Return: 0, the latch is open, even if the deadline has passed.
 *   -ETIMEDOUT  deadline reached
 *   -EINVAL     @l is NULL, misaligned or finished
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what happened before each count-down
 * Threads:      any
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the caller may free @l at once, even if the count-down that opened it has not
 *               returned, but not before every other wait has
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_latch_wait_until(struct ipcwait_latch *l,
							    int64_t deadline_ns);

/**
 * ipcwait_latch_arrive_and_wait() - count down by one and wait until the latch is open
 * @l: latch, initialised or all-zero
 *
 * No signal ends it. If it fails with -ENOSYS it has counted down all the same.
 *
 * Return: 0, the latch is open.
 *   -EOVERFLOW  it was open before; nothing was changed
 *   -EINVAL     @l is NULL, misaligned or finished
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     release, and acquire on 0: sees what happened before each count-down
 * Threads:      any
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_latch_wait_until()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_latch_arrive_and_wait(struct ipcwait_latch *l);

/**
 * ipcwait_latch_count() - how many times the latch has to be counted down
 * @l: latch
 *
 * A snapshot that may be out of date when the call returns, unless it is 0.
 *
 * Return: 0 .. IPCWAIT_LATCH_COUNT_MAX; 0: it is open.
 *
 * Ordering:     none; ipcwait_latch_trywait() to see what happened before
 * Threads:      any
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @l must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_latch_count(const struct ipcwait_latch *l);

/* Out-of-line rest of the inline functions below. Exported, not API. */
IPCWAIT_API int ipcwait_impl_latch_wait_slow(struct ipcwait_latch *l);
IPCWAIT_API int ipcwait_impl_latch_count_down_slow(struct ipcwait_latch *l, uint32_t n);

/**
 * ipcwait_latch_trywait() - whether the latch is open
 * @l: latch, initialised or all-zero
 *
 * Return: 0, it is open.
 *   -EAGAIN  it is not
 *
 * Ordering:     acquire on 0: sees what happened before each count-down
 * Threads:      any
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_latch_wait_until()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_latch_trywait(struct ipcwait_latch *l)
{
	/*
	 * ORD latch.A1: acquire, so the caller sees what came before each count-down. Pairs with
	 * latch.R1 and latch.R2, directly or through the read-modify-writes in between, which
	 * continue their release sequences.
	 */
	uint64_t w = ipcwait_impl_load64_acquire(&l->word);

	return w < IPCWAIT_IMPL_LATCH_COUNT_ONE ? 0 : -EAGAIN;
}

/**
 * ipcwait_latch_wait() - wait until the latch is open
 * @l: latch, initialised or all-zero
 *
 * Spins for the latch's learned window, then sleeps. No signal ends it.
 *
 * Return: 0, the latch is open.
 *   -EINVAL  @l is misaligned or finished
 *   -ENOSYS  the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what happened before each count-down
 * Threads:      any
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_latch_wait_until()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_latch_wait(struct ipcwait_latch *l)
{
	if (IPCWAIT_IMPL_FAST(ipcwait_latch_trywait(l) == 0))
		return 0;
	return ipcwait_impl_latch_wait_slow(l);
}

/**
 * ipcwait_latch_count_down() - count down by @n
 * @l: latch, initialised or all-zero
 * @n: by how much; 0 changes nothing
 *
 * Wakes all who sleep, with one system call, if this opens the latch.
 *
 * Return: 0.
 *   -EOVERFLOW  @n is more than the count; nothing was changed
 *   -EINVAL     @l is finished, or has sleepers and is misaligned; nothing was changed
 *
 * Ordering:     release on 0: whoever waits until the latch is open sees what came before
 * Threads:      any
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @l is not touched once a wait can return; a wake system call may still use its
 *               address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_latch_count_down(struct ipcwait_latch *l, uint32_t n)
{
	/* ORD latch.X1: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&l->word);

	/*
	 * ORD latch.R1: release on success, so whoever finds the latch open sees what came before.
	 * Pairs with latch.A1, latch.A2 and latch.A3.
	 *
	 * Only with the low half zero: then nobody sleeps and no wake is due.
	 */
	if (IPCWAIT_IMPL_FAST((uint32_t)w == 0) && IPCWAIT_LIKELY(n <= w >> 32) &&
	    IPCWAIT_LIKELY(
		    ipcwait_impl_cas64_release(&l->word, &w, w - ((uint64_t)n << 32))))
		return 0;
	return ipcwait_impl_latch_count_down_slow(l, n);
}

IPCWAIT_END_DECLS

#endif
