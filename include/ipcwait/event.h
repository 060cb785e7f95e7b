/* SPDX-License-Identifier: MIT */
/*
 * Event: something has happened, or not. Manual reset: once set it lets everybody through until
 * it is reset. Auto reset: each set lets one waiter through, and that resets it.
 *
 *	static struct ipcwait_event ready;             // all zero: not set, manual reset
 *
 *	void start(void) { make_ready(); ipcwait_event_set(&ready); }
 *	void user(void)
 *	{
 *		ipcwait_event_wait(&ready);
 *		use_it();
 *	}
 *
 * Cost: a wait for a manual event that is set is one load. Setting with nobody asleep, resetting,
 * and taking an auto-reset event are one atomic operation each, in the caller. A set that
 * spinning waiters see makes no system call; any other makes at most one.
 *
 * Guarantees: whoever waits for a manual event when it is set is let through, even if it is
 * reset at once. A set of an auto-reset event lets exactly one wait through, unless the event is
 * set already: then there is nothing to add, as with a semaphore that holds one token at most.
 * Each set publishes what came before it, also one of an event that is set already: the wait
 * that is let through, or the reset that ends it, sees that. So a loop of "reset, look, wait"
 * beside "change, set" misses no change. A wait that returns an error has taken nothing. A set
 * touches the event for the last time before any wait can return on account of it, so the last
 * waiter may destroy and free the event at once.
 *
 * Limits: to set and reset an auto-reset event may wake a waiter for nothing. No order among
 * waiters: a running thread may overtake a sleeping one. 65535 sleepers at a time are woken. A
 * waiter beyond these checks the event after 1 ms, and doubles that time after each check, up to
 * 2n ms when n such waiters sleep in the process. A waiter for a manual event that is just going to
 * sleep, and does not run while the event is set and reset exactly 2^30 times, or a multiple of it,
 * sleeps until it is set again.
 *
 * Death: the event stays as it is, and whoever looks sees it. But a process that is killed at
 * the wrong moment (as a setter before its wake; with auto reset also as a waiter after its
 * wake, or as a spinner beside sleepers) can leave waiters asleep beside an event that is set.
 * They look by themselves, after 1, 2, 4 and then every 8 seconds, but for private events;
 * sooner if somebody sets it a millisecond after the last wake, after a spinner's death twice.
 * A killed sleeper costs needless wakes, and -EBUSY from ipcwait_event_fini(), for good.
 *
 * Layout: 32 bytes, the same in every process. State word: docs/design/event.md.
 */
#ifndef IPCWAIT_EVENT_H
#define IPCWAIT_EVENT_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/* Flag of ipcwait_event_init(): one wait is let through by each set. */
#define IPCWAIT_AUTO_RESET 0x100u

/*
 * event.word
 *   bit 0       SET       the event is set
 *   bit 1       WAKE      sleepers are being woken: one (auto reset), all of them (manual)
 *   bits 2-46   EPOCH     how often it was set, not counting sets of an event that was
 *   bit 47      SPINNER   a waiter is looking while others sleep; auto reset only
 *   bits 48-63  SLEEPERS  waiters that have announced a sleep and not yet come back
 *
 *   SLEEPERS SPINNER WAKE SET
 *      0        0     0    v    nobody sleeps             (v = 0: the all-zero state)
 *      s        0     0    0    s threads asleep
 *      s        0     k    1    k = 0: the signal was left to a spinner, or a sleeper is back
 *      s        0     1    0    auto: the signal is taken already. Manual: set and reset
 *      s        1     k    0    the next set leaves the signal for the spinner
 *      0        0     1   any   never
 *     any       1    any   1    never
 *
 *   v,e,k -> 1,e',k'   set             any thread       fast path; nobody sleeps. e' = e+1-v.
 *                                                       k' = 1 and wake, if s > 0, SPINNER = 0
 *                                                       and k = 0; SPINNER -> 0; stale k is 0
 *   1 -> 0             reset           any thread       fast path
 *   1,k,s -> 0,k,s     take            any thread       fast path; auto only
 *   1,k,s -> 0,0,s-1   take            counted waiter   auto only
 *   e,k,s -> e,k,s-1   leave           counted waiter   manual: set, or e is not what it was
 *                                                       when the wait began; last one: k -> 0
 *   SPINNER 0 -> 1     look            spinning waiter  auto: while s > k
 *   0,e,k,s -> 0,e,0,s+1  announce     waiter           e as when it began if manual;
 *   0,e,k,s -> 0,e,0,s    sleep again  counted waiter   SPINNER -> 0
 *   0,k,s -> 0,0,s-1   give up         expired waiter   manual: k stays while s > 1
 *   1,k,s -> 1,k',s-1  pass on         waiter for any   took another object; auto: k' = 1 and
 *                                                      wake one if s > 1
 *   v,e,k,s -> v,e,0,0  forget         waiter, fini     in the copy of a child of fork(2), if
 *                                                       private: before its first; SPINNER -> 0
 *
 * WAKE and SPINNER may be 0 when they should be 1: costs a needless wake. Either 1 wrongly while
 * a thread sleeps that is to be let through is a lost wake-up and must be impossible: nobody
 * goes to sleep unless WAKE is 0. SLEEPERS may be too large (a waiter was killed): needless
 * wakes.
 */
struct ipcwait_event {
	struct ipcwait_word64 word;   /* low half: the futex */
	uint32_t flags;               /* as given to init; all ones: finished */
	uint32_t reserved;            /* private: the process that waits on it; else zero */
	struct ipcwait_window window; /* what its waits have taught */
};

#define IPCWAIT_IMPL_EVENT_SET       UINT64_C(1)
#define IPCWAIT_IMPL_EVENT_EPOCH_ONE (UINT64_C(1) << 2)
#define IPCWAIT_IMPL_EVENT_EPOCH_END (UINT64_C(1) << 47)
#define IPCWAIT_IMPL_EVENT_EPOCH_MASK \
	(IPCWAIT_IMPL_EVENT_EPOCH_END - IPCWAIT_IMPL_EVENT_EPOCH_ONE)

/* A manual event that is not set, for static initialisation. */
/* clang-format off */
#define IPCWAIT_EVENT_INIT { { 0 }, 0, 0, { { 0 }, { 0 }, { 0 } } }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_event_init() - make an event that is not set
 * @e:     memory for the event, 8-byte aligned
 * @flags: 0 (manual reset, usable between processes), or of IPCWAIT_AUTO_RESET, IPCWAIT_PRIVATE
 *         and IPCWAIT_INTERRUPTIBLE
 *
 * Not needed for memory that is all zero. Over a live event it forgets its waiters.
 *
 * Return: 0.
 *   -EINVAL  @e is NULL or misaligned, or unknown @flags; @e is unchanged
 *
 * Ordering:     none; publish @e to other threads yourself
 * Threads:      one, before any other call on @e
 * Processes:    any that map @e afterwards, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_event_init(struct ipcwait_event *e,
						      unsigned flags);

/**
 * ipcwait_event_fini() - end an event
 * @e: event that nobody uses any more
 *
 * Optional: an event owns nothing outside its memory. Afterwards it is not set, and calls that
 * would have to wait or wake return -EINVAL, until ipcwait_event_init().
 *
 * Return: 0.
 *   -EBUSY   somebody sleeps on @e, spins beside sleepers, or was killed doing so; it is
 *            unchanged
 *   -EINVAL  @e is NULL, misaligned or finished
 *
 * Ordering:     none
 * Threads:      one, after every other call on @e has returned, except sets that have let a
 *               wait through
 * Processes:    holds for all that map @e
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_event_fini(struct ipcwait_event *e);

/**
 * ipcwait_event_wait_until() - wait until the event is set, giving up at @deadline_ns
 * @e:           event, initialised or all-zero
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * An event that is set lets the caller through even if the deadline has passed.
 *
 * Return: 0, the event was set, and is reset now if it resets itself. Any error: nothing was
 *         taken.
 *   -ETIMEDOUT  deadline reached
 *   -EINTR      a signal handler ran, and @e is IPCWAIT_INTERRUPTIBLE
 *   -EINVAL     @e is misaligned or finished
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what happened before the sets that let it through
 * Threads:      any
 * Processes:    any that map @e, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the caller may free @e at once, even if the set that let it through has not
 *               returned, but not before every other wait has
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_event_wait_until(struct ipcwait_event *e,
							    int64_t deadline_ns);

/* Out-of-line rest of the inline functions below. Exported, not API. */
IPCWAIT_API int ipcwait_impl_event_wait_slow(struct ipcwait_event *e, uint64_t seen);
IPCWAIT_API int ipcwait_impl_event_set_slow(struct ipcwait_event *e);

/* The word after a set that finds @w. */
static inline uint64_t ipcwait_impl_event_after_set(uint64_t w)
{
	uint64_t epoch = (w + IPCWAIT_IMPL_EVENT_EPOCH_ONE) & IPCWAIT_IMPL_EVENT_EPOCH_MASK;

	if (w & IPCWAIT_IMPL_EVENT_SET)
		return w;
	return (w & ~IPCWAIT_IMPL_EVENT_EPOCH_MASK) | epoch | IPCWAIT_IMPL_EVENT_SET;
}

/* One look at @e, which had the word @w. */
static inline bool ipcwait_impl_event_take(struct ipcwait_event *e, uint64_t w)
{
	if (!(w & IPCWAIT_IMPL_EVENT_SET))
		return false;
	if (!(e->flags & IPCWAIT_AUTO_RESET))
		return true;
	/*
	 * ORD event.A1: acquire on success, so the caller sees what came before the set. Pairs
	 * with event.R1 and event.R2, directly or through the read-modify-writes in between,
	 * which continue their release sequence.
	 */
	return ipcwait_impl_cas64_acquire(&e->word, &w, w & ~IPCWAIT_IMPL_EVENT_SET);
}

/**
 * ipcwait_event_is_set() - whether the event is set
 * @e: event, initialised or all-zero
 *
 * Takes nothing: an auto-reset event that was set may be reset when the call returns.
 *
 * Return: true if it is set.
 *
 * Ordering:     acquire on true: sees what happened before the sets
 * Threads:      any
 * Processes:    any that map @e, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @e must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE bool ipcwait_event_is_set(const struct ipcwait_event *e)
{
	/* ORD event.A2: acquire, as event.A1. Pairs with event.R1 and event.R2. */
	return ipcwait_impl_load64_acquire(&e->word) & IPCWAIT_IMPL_EVENT_SET;
}

/**
 * ipcwait_event_trywait() - be let through if the event is set
 * @e: event, initialised or all-zero
 *
 * Return: 0, the event was set, and is reset now if it resets itself.
 *   -EAGAIN  it was not set
 *
 * Ordering:     acquire on 0: sees what happened before the sets that let it through
 * Threads:      any
 * Processes:    any that map @e, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_event_wait_until()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_event_trywait(struct ipcwait_event *e)
{
	uint64_t w;

	do {
		/* ORD event.A3: acquire, as event.A1. Pairs with event.R1 and event.R2. */
		w = ipcwait_impl_load64_acquire(&e->word);
		if (ipcwait_impl_event_take(e, w))
			return 0;
	} while (w & IPCWAIT_IMPL_EVENT_SET);
	return -EAGAIN;
}

/**
 * ipcwait_event_wait() - wait until the event is set
 * @e: event, initialised or all-zero
 *
 * Spins for the event's learned window, then sleeps.
 *
 * Return: 0, the event was set, and is reset now if it resets itself. Any error: nothing was
 *         taken.
 *   -EINTR   a signal handler ran, and @e is IPCWAIT_INTERRUPTIBLE
 *   -EINVAL  @e is misaligned or finished
 *   -ENOSYS  the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what happened before the sets that let it through
 * Threads:      any
 * Processes:    any that map @e, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_event_wait_until()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_event_wait(struct ipcwait_event *e)
{
	/* ORD event.A4: acquire, as event.A1. Pairs with event.R1 and event.R2. */
	uint64_t w = ipcwait_impl_load64_acquire(&e->word);

	if (IPCWAIT_IMPL_FAST(w & IPCWAIT_IMPL_EVENT_SET) && ipcwait_impl_event_take(e, w))
		return 0;
	return ipcwait_impl_event_wait_slow(e, w);
}

/**
 * ipcwait_event_set() - set the event
 * @e: event, initialised or all-zero
 *
 * Manual reset: lets through everybody who waits now, and whoever comes until it is reset. Auto
 * reset: lets one wait through. An event that is set stays so; what came before this call is
 * published all the same.
 *
 * Return: 0.
 *   -EINVAL  @e is finished, or has sleepers and is misaligned; nothing was set
 *
 * Ordering:     release on 0: a wait that is let through, or the reset that ends it, sees
 *               what came before
 * Threads:      any
 * Processes:    any that map @e, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @e is not touched once a wait can be let through; a wake system call may
 *               still use its address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_event_set(struct ipcwait_event *e)
{
	/* ORD event.X1: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&e->word);

	/*
	 * ORD event.R1: release on success, so whoever is let through sees what came before
	 * the set. Pairs with event.A1, event.A2, event.A3, event.A4, event.A5, event.A6,
	 * event.A7 and event.A8.
	 *
	 * Also where the event is set: who waits for it, or resets it, may not have seen what
	 * came before this call. Only with no SLEEPERS and no SPINNER: then no wake is due.
	 */
	if (IPCWAIT_IMPL_FAST(w < IPCWAIT_IMPL_EVENT_EPOCH_END) &&
	    IPCWAIT_LIKELY(ipcwait_impl_cas64_release(&e->word, &w,
						      ipcwait_impl_event_after_set(w))))
		return 0;
	return ipcwait_impl_event_set_slow(e);
}

/**
 * ipcwait_event_reset() - end what the last set has begun
 * @e: event, initialised or all-zero
 *
 * Waits for a manual event that had begun before the last set return all the same. One for an
 * auto-reset event may find nothing and go on.
 *
 * Return: 0.
 *
 * Ordering:     acquire if it was set: sees what happened before the sets
 * Threads:      any
 * Processes:    any that map @e, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @e must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_event_reset(struct ipcwait_event *e)
{
	/* ORD event.X2: relaxed, re-checked by the CAS below; not set: no order is promised. */
	uint64_t w = ipcwait_impl_load64_relaxed(&e->word);

	/*
	 * ORD event.A5: acquire on success, so the caller sees what came before each of the
	 * sets. Pairs with event.R1 and event.R2.
	 */
	while (w & IPCWAIT_IMPL_EVENT_SET &&
	       !ipcwait_impl_cas64_acquire(&e->word, &w, w & ~IPCWAIT_IMPL_EVENT_SET))
		continue;
	return 0;
}

IPCWAIT_END_DECLS

#endif
