/* SPDX-License-Identifier: MIT */
/*
 * Wait on the value of a 32-bit word: the lowest public door.
 *
 *	static uint32_t ready;                   // 0 until the data is there
 *	static struct ipcwait_window window;     // what is known about waits on it
 *
 *	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 0) {
 *		int r = ipcwait_futex_wait(&ready, 0, IPCWAIT_FOREVER, &window, 0);
 *		if (r && r != -EAGAIN)
 *			return r;
 *	}
 *
 *	// the other thread
 *	__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
 *	ipcwait_futex_wake(&ready, 1, 0);
 *
 * This is futex(2) with a spin in front that is as long as waits on this word deserve.
 * The caller owns the protocol: it changes the word before it wakes, looks at the word
 * again after every return, and skips the wake when it knows that nobody sleeps. Who
 * wants that done should take a semaphore (sem.h) instead.
 *
 * Cost: a wait that finds the word changed makes no system call; a wake always makes one.
 * Guarantees: no order among sleepers; any wait may return 0 without a wake.
 * Limits: the word is 4-byte aligned; both sides pass the same IPCWAIT_PRIVATE.
 */
#ifndef IPCWAIT_FUTEX_H
#define IPCWAIT_FUTEX_H

#include <ipcwait/base.h>
#include <ipcwait/policy.h>

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_futex_wait() - wait while *@word == @expected
 * @word:        the word, 4-byte aligned
 * @expected:    value to sleep on
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 * @w:           what is known about waits on this word, shared by all its waiters; spins
 *               as it says and learns from this wait. NULL: sleep at once, learn nothing
 * @flags:       0, or of IPCWAIT_PRIVATE and IPCWAIT_INTERRUPTIBLE: it does not spin then
 *
 * The word is read by the caller while it spins, by the kernel atomically when it goes
 * to sleep. With @w NULL only the kernel reads it, unless the deadline has passed already.
 *
 * A wake, or a change of the word and back, that comes while a signal handler runs in the sleep
 * may go unseen, unless @flags has IPCWAIT_INTERRUPTIBLE.
 *
 * Return: 0 after a wake, a change of the word during the wait, or for no reason: look
 *         at the word again.
 *   -EAGAIN     *@word differed from @expected when the call began
 *   -ETIMEDOUT  deadline reached
 *   -EINTR      a signal handler ran, and @flags has IPCWAIT_INTERRUPTIBLE
 *   -EINVAL     @word is NULL or misaligned, @w is misaligned, or unknown @flags
 *   -EFAULT     @word is not mapped (where the caller reads it, that faults instead)
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     none; load the word with acquire order after the call
 * Threads:      any
 * Processes:    any that map @word, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @word and @w must stay mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_futex_wait(uint32_t *word, uint32_t expected,
						      int64_t deadline_ns,
						      struct ipcwait_window *w,
						      unsigned flags);

/* One of several words to wait on. */
struct ipcwait_futex_waiter {
	uint32_t *word;    /* 4-byte aligned */
	uint32_t expected; /* value to sleep on */
	unsigned flags;    /* 0 or IPCWAIT_PRIVATE */
};

/**
 * ipcwait_futex_wait_any() - wait while each word of a set holds its expected value
 * @set:         the words; not changed
 * @n:           how many, 1 .. 128
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * ipcwait_wait_any() for words only, with the calling thread's own window; see wait_any.h.
 * Where several threads sleep on a word and not all for it alone, wake all of them.
 *
 * Return: the index of a word that differed at the call, the lowest; or later of one that
 *         differs or was woken. Look at that word again: it may be for no reason.
 *   -ETIMEDOUT  deadline reached
 *   -EINVAL     @set is NULL, @n is 0 or above 128, a word is NULL or misaligned, or has
 *               unknown flags
 *   -ENOMEM     the kernel had no memory for so many words
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     none; load the word with acquire order after the call
 * Threads:      any
 * Processes:    any that map a word, unless its IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     all words must stay mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_futex_wait_any(struct ipcwait_futex_waiter *set,
							  unsigned n, int64_t deadline_ns);

/**
 * ipcwait_futex_wake() - wake threads that sleep on @word
 * @word:  the word; change it before the call
 * @count: how many to wake at most; 0 does nothing, values above INT_MAX mean all
 * @flags: 0 or IPCWAIT_PRIVATE
 *
 * Only the address is used, never the memory behind it: the word may be gone already.
 *
 * Return: the number of threads woken.
 *   -EINVAL  @word is NULL or misaligned, or unknown @flags
 *   -EFAULT  @word is not mapped and not private
 *
 * Ordering:     none; publish with a release store to the word before the call
 * Threads:      any
 * Processes:    any that map @word, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the word may be freed before the call; then a stranger may wake for no reason
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_futex_wake(uint32_t *word, unsigned count, unsigned flags);

/**
 * ipcwait_window_stamp() - let sleepers learn the true length of their wait
 * @w: the window that the waiters pass to ipcwait_futex_wait()
 *
 * Optional. A waker that knows somebody sleeps calls this before it publishes the change.
 * The sleeper then tells its wait from the time that waking it took.
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    any that map @w
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @w must be mapped during the call
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API void ipcwait_window_stamp(struct ipcwait_window *w);

IPCWAIT_END_DECLS

#endif
