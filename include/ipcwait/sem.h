/* SPDX-License-Identifier: MIT */
/*
 * Counting semaphore.
 *
 *	static struct ipcwait_sem items;           // all zero: empty, default policy
 *
 *	void producer(void) { put(item); ipcwait_sem_post(&items); }
 *	void consumer(void)
 *	{
 *		ipcwait_sem_wait(&items);
 *		get(&item);
 *	}
 *
 * Cost: a post nobody waits for and a wait that finds a token are one atomic operation
 * each, in the caller. A post that a spinning waiter takes makes no system call. A post
 * makes at most one, however many tokens it adds.
 *
 * Guarantees: a token is never lost and never taken twice. A wait that returns an error
 * has taken nothing. A post touches the semaphore for the last time before any wait can
 * take its token, so the last waiter may destroy and free the semaphore at once.
 *
 * Limits: at most IPCWAIT_SEM_VALUE_MAX tokens. No order among waiters: a running thread
 * may overtake a sleeping one. 65535 sleepers at a time are woken. A waiter beyond these
 * checks the semaphore after 1 ms, and doubles that time after each check, up to 2n ms when
 * n such waiters sleep in the process.
 *
 * Death: no token is lost, and whoever looks finds it. But a process that is killed at the
 * wrong moment (as a poster before its wake, as a waiter after its wake, as a spinner beside
 * sleepers) can leave tokens that no sleeper is told of. Sleepers find them by themselves: each
 * looks after 1, 2, 4 and then every 8 seconds, but for private semaphores. Sooner if a waiter
 * goes to sleep, or a post comes a millisecond after the last wake; after a spinner's death it
 * takes two.
 *
 * Layout: 32 bytes, the same in every process. State word: docs/design/sem.md.
 */
#ifndef IPCWAIT_SEM_H
#define IPCWAIT_SEM_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/* Largest number of tokens, the same as POSIX SEM_VALUE_MAX on Linux. */
#define IPCWAIT_SEM_VALUE_MAX 0x7fffffff

/*
 * sem.word
 *   bits 0-15   SLEEPERS  waiters that have announced a sleep and not yet come back
 *   bits 16-31  WAKES     of these, waiters that a wake is on its way to
 *   bits 32-62  VALUE     tokens
 *   bit 63      SPINNER   a waiter is looking while others sleep
 *
 *   SPINNER VALUE WAKES SLEEPERS
 *      0      v     0      0      nobody sleeps        (v = 0: the all-zero state)
 *      0      0     0      s      s threads asleep
 *      0      v     k      s      k of s were woken; v > k only if k = s or a spinner was left v
 *      1      0     k      s      the next post leaves one token for the spinner
 *      any    any   > SLEEPERS    never
 *
 *   v -> v-1              take            any thread        fast path; value > 0
 *   v -> v+n              post            any thread        fast path; nobody sleeps
 *   v,k -> v+n,k+m        post            any thread        m = min(s-k, v+n-k-SPINNER), wake m;
 *                                                           SPINNER -> 0; stale k counts as 0
 *   SPINNER 0 -> 1        look            spinning waiter   while s > k; not counted in s itself
 *   0,k,s -> 0,0,s+1      announce sleep  waiter            value 0 only; SPINNER -> 0
 *   0,k,s -> 0,0,s        sleep again     woken waiter      value 0 only; SPINNER -> 0
 *   v,k,s -> v-1,k-1,s-1  take            woken waiter      k stays 0 if it was 0
 *   0,k,s -> 0,k-1,s-1    give up         expired waiter    k stays 0 if it was 0
 *   v,k,s -> v,k-1+m,s-1  pass on         waiter for any    took another object; with k' = k-1:
 *                                                           m = min(s-1-k', v-k'), wake m
 *   v,k,s -> v,0,0        forget          waiter, fini      in the copy of a child of fork(2), if
 *                                                           private: before its first; SPINNER -> 0
 *
 * WAKES and SPINNER may be too small: costs a needless wake. Either too large while a
 * thread sleeps and v > 0 is a lost wake-up and must be impossible: nobody goes to sleep
 * unless WAKES is 0, nobody counts in both, and whoever spins ends it by taking a token or
 * by seeing none. SLEEPERS may be too large (a waiter was killed): needless wakes.
 */
struct ipcwait_sem {
	struct ipcwait_word64 word;   /* low half: the futex */
	uint32_t flags;               /* as given to init; all ones: finished */
	uint32_t reserved;            /* private: the process that waits on it; else zero */
	struct ipcwait_window window; /* what its waits have taught */
};

#define IPCWAIT_IMPL_SEM_VALUE_ONE  (UINT64_C(1) << 32)
#define IPCWAIT_IMPL_SEM_VALUE_MASK (UINT64_C(0x7fffffff) << 32)

/* A semaphore with @value tokens, for static initialisation. */
/* clang-format off */
#define IPCWAIT_SEM_INIT(value) \
	{ { (uint64_t)(value) << 32 }, 0, 0, { { 0 }, { 0 }, { 0 } } }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_sem_init() - make a semaphore with @value tokens
 * @s:     memory for the semaphore, 8-byte aligned
 * @value: tokens to begin with
 * @flags: 0 (usable between processes), or of IPCWAIT_PRIVATE and IPCWAIT_INTERRUPTIBLE
 *
 * Not needed for memory that is all zero. Over a live semaphore it forgets its waiters.
 *
 * Return: 0.
 *   -EINVAL  @s is NULL or misaligned, @value is above IPCWAIT_SEM_VALUE_MAX, or unknown
 *            @flags; @s is unchanged
 *
 * Ordering:     none; publish @s to other threads yourself
 * Threads:      one, before any other call on @s
 * Processes:    any that map @s afterwards, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_sem_init(struct ipcwait_sem *s, uint32_t value,
						    unsigned flags);

/**
 * ipcwait_sem_fini() - end a semaphore
 * @s: semaphore that nobody uses any more
 *
 * Optional: a semaphore owns nothing outside its memory. Afterwards calls that would have
 * to wait or wake return -EINVAL, until ipcwait_sem_init().
 *
 * Return: 0.
 *   -EBUSY   somebody sleeps on @s, spins beside sleepers, or was killed doing so; it is
 *            unchanged
 *   -EINVAL  @s is NULL, misaligned or finished
 *
 * Ordering:     none
 * Threads:      one, after every other call on @s has returned, except posts whose tokens
 *               have been taken
 * Processes:    holds for all that map @s
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_sem_fini(struct ipcwait_sem *s);

/**
 * ipcwait_sem_wait_until() - take a token, giving up at @deadline_ns
 * @s:           semaphore, initialised or all-zero
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * A token that is there is taken even if the deadline has passed.
 *
 * Return: 0, the caller has taken one token. Any error: none was taken.
 *   -ETIMEDOUT  deadline reached
 *   -EINTR      a signal handler ran, and @s is IPCWAIT_INTERRUPTIBLE
 *   -EINVAL     @s is misaligned or finished
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what happened before the post that made the token
 * Threads:      any
 * Processes:    any that map @s, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the caller that took the last token may free @s at once, even if the post
 *               that made it has not returned, but not before every other wait has
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_sem_wait_until(struct ipcwait_sem *s,
							  int64_t deadline_ns);

/**
 * ipcwait_sem_value() - number of tokens
 * @s: semaphore
 *
 * A snapshot that may be out of date when the call returns. Waiters do not make it negative.
 *
 * Return: the number of tokens, 0 .. IPCWAIT_SEM_VALUE_MAX.
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    any that map @s, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @s must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_sem_value(const struct ipcwait_sem *s);

/* Out-of-line rest of the inline functions below. Exported, not API. */
IPCWAIT_API int ipcwait_impl_sem_wait_slow(struct ipcwait_sem *s);
IPCWAIT_API int ipcwait_impl_sem_post_slow(struct ipcwait_sem *s, uint32_t n);

/**
 * ipcwait_sem_trywait() - take a token if one is there
 * @s: semaphore, initialised or all-zero
 *
 * Return: 0, the caller has taken one token.
 *   -EAGAIN  there was none
 *
 * Ordering:     acquire on 0: sees what happened before the post that made the token
 * Threads:      any
 * Processes:    any that map @s, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_sem_wait_until()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_sem_trywait(struct ipcwait_sem *s)
{
	/* ORD sem.X1: relaxed, re-checked by the CAS below; none means -EAGAIN, no order. */
	uint64_t w = ipcwait_impl_load64_relaxed(&s->word);

	while (w & IPCWAIT_IMPL_SEM_VALUE_MASK) {
		/*
		 * ORD sem.A1: acquire on success, so the caller sees what the poster wrote
		 * before it posted. Pairs with sem.R1 and sem.R2, directly or through the
		 * read-modify-writes in between, which continue their release sequence.
		 */
		if (ipcwait_impl_cas64_acquire(&s->word, &w,
					       w - IPCWAIT_IMPL_SEM_VALUE_ONE))
			return 0;
	}
	return -EAGAIN;
}

/**
 * ipcwait_sem_wait() - take a token, waiting for one if necessary
 * @s: semaphore, initialised or all-zero
 *
 * Spins for the semaphore's learned window, then sleeps.
 *
 * Return: 0, the caller has taken one token. Any error: none was taken.
 *   -EINTR   a signal handler ran, and @s is IPCWAIT_INTERRUPTIBLE
 *   -EINVAL  @s is misaligned or finished
 *   -ENOSYS  the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what happened before the post that made the token
 * Threads:      any
 * Processes:    any that map @s, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_sem_wait_until()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_sem_wait(struct ipcwait_sem *s)
{
	/* ORD sem.X2: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&s->word);

	/* ORD sem.A2: acquire on success, as sem.A1. Pairs with sem.R1 and sem.R2. */
	if (IPCWAIT_IMPL_FAST(w & IPCWAIT_IMPL_SEM_VALUE_MASK) &&
	    IPCWAIT_LIKELY(ipcwait_impl_cas64_acquire(&s->word, &w,
						      w - IPCWAIT_IMPL_SEM_VALUE_ONE)))
		return 0;
	return ipcwait_impl_sem_wait_slow(s);
}

/**
 * ipcwait_sem_post_n() - add @n tokens
 * @s: semaphore, initialised or all-zero
 * @n: how many; 0 adds nothing
 *
 * Wakes as many sleepers as there are tokens that no running waiter will take, all with
 * one system call.
 *
 * Return: 0.
 *   -EOVERFLOW  the sum would be above IPCWAIT_SEM_VALUE_MAX; nothing was added
 *   -EINVAL     @s is finished, or has sleepers and is misaligned; nothing was added
 *
 * Ordering:     release on 0: a wait that takes one of the tokens sees what came before
 * Threads:      any
 * Processes:    any that map @s, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @s is not touched once a waiter can take a token; a wake system call may
 *               still use its address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_sem_post_n(struct ipcwait_sem *s, uint32_t n)
{
	/* ORD sem.X3: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&s->word);

	/*
	 * ORD sem.R1: release on success, so whoever takes the token sees what came before
	 * the post. Pairs with sem.A1, sem.A2 and sem.A3.
	 *
	 * Only with the low half zero: then nobody sleeps and no wake is due. A SPINNER bit
	 * without sleepers needs nothing either, but leaves the check to the slow path.
	 */
	if (IPCWAIT_IMPL_FAST((uint32_t)w == 0) &&
	    IPCWAIT_LIKELY((w >> 32) + n <= IPCWAIT_SEM_VALUE_MAX) &&
	    IPCWAIT_LIKELY(
		    ipcwait_impl_cas64_release(&s->word, &w, w + ((uint64_t)n << 32))))
		return 0;
	return ipcwait_impl_sem_post_slow(s, n);
}

/**
 * ipcwait_sem_post() - add a token
 * @s: semaphore, initialised or all-zero
 *
 * Return: 0.
 *   -EOVERFLOW  the value is IPCWAIT_SEM_VALUE_MAX and stays so
 *   -EINVAL     @s is finished, or has sleepers and is misaligned; nothing was added
 *
 * Ordering:     release on 0: the wait that takes the token sees what came before
 * Threads:      any
 * Processes:    any that map @s, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_sem_post_n()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_sem_post(struct ipcwait_sem *s)
{
	return ipcwait_sem_post_n(s, 1);
}

IPCWAIT_END_DECLS

#endif
