/* SPDX-License-Identifier: MIT */
/*
 * Condition variable: wait until another thread says that something may have changed.
 *
 *	static struct ipcwait_mutex lock;
 *	static struct ipcwait_cond changed;        // all zero: shared, default policy
 *
 *	ipcwait_mutex_lock(&lock);
 *	while (!items)
 *		if (ipcwait_cond_wait(&changed, &lock))
 *			abort();           // futex(2) is forbidden; the lock may not be held
 *	items--;
 *	ipcwait_mutex_unlock(&lock);
 *
 * Cost: a signal that nobody waits for is three loads. One that a spinning waiter takes is one
 * atomic operation more and no system call. Any other signal or broadcast makes one.
 *
 * Guarantees: a signal releases a thread that waited when it was called, never one that began to
 * wait later; a broadcast releases all that waited. A wait that has expired has taken no signal.
 * The mutex is locked again when a wait returns, except as said there. Waits may also return 0
 * without a signal: look at the condition again, always.
 *
 * Order among waiters: a signal goes to the one that spins, if there is one, else to the one that
 * has slept for longest.
 *
 * Limits: 2^31 waiters. With more than 16 asleep, one that gives up may cost a later signal
 * needless wake-ups. A thread that is kept from running for six days and more, in which the
 * others sleep a million times a second, can miss its signal.
 *
 * Death: nobody is blocked. A waiter that was killed uses up at most one signal. A signal or
 * broadcast whose caller is killed in it may release nobody. A sleeper that it had released
 * finds out by itself: it looks after 1, 2, 4 and then every 8 seconds, but for private ones.
 * It is also reached by the next broadcast, or by a signal a millisecond later that finds
 * nobody else.
 *
 * Layout: 48 bytes, the same in every process. State words: docs/design/cond.md.
 */
#ifndef IPCWAIT_COND_H
#define IPCWAIT_COND_H

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/mutex.h>
#include <ipcwait/policy.h>

/*
 * cond.word
 *   bits 0-39   SERVED    whoever holds a ticket below it has been released
 *   bits 40-55  GONE      bit i: the holder of ticket SERVED + i has given up
 *   bits 56-63  DEEP      holders that gave up while GONE had no bit for them
 *
 * cond.arrivals
 *   bit 0       SPINNER   a waiter without a ticket is looking
 *   bits 1-31   TURN      how often there has been one; with SPINNER the name of this one
 *   bits 32-63  ISSUED    the next ticket
 *
 *   SPINNER  ISSUED - SERVED
 *      0           0          nobody waits           (the all-zero state)
 *      1           0          one waits, and looks
 *      0           n          n tickets wait, less those in GONE and DEEP
 *      1           n          and one that looks
 *
 *   SPINNER 0 -> 1, TURN + 1         wait        waiter             with the mutex
 *   i -> i+1                         wait        waiter             beside a spinner, likewise
 *   SPINNER 1 -> 0, i -> i+1         go to sleep spinner
 *   SPINNER 1 -> 0                   signal      any thread         releases the spinner
 *   s -> s+1                         signal      any thread         no SPINNER; then wake ticket s
 *   s -> i, GONE -> 0, DEEP -> 0     broadcast   any thread         then SPINNER 1 -> 0, wake all
 *   SPINNER 1 -> 0                   give up     expired spinner
 *   GONE bit t-s 0 -> 1              give up     expired ticket t
 *   DEEP + 1                         give up     expired ticket t   no such bit, or set already
 *   s -> s+n, GONE >> n              skip        whoever leaves GONE with n ones at its end
 *   s -> i, GONE -> 0, DEEP -> 0     forget      waiter, fini       then SPINNER 1 -> 0; in the
 *                                                                   copy of a child of fork(2), if
 *                                                                   private: before its first
 *
 * While DEEP is not 0 the bits that come into GONE are ones, and mean that the ticket may have
 * been given up. When all sixteen are ones a signal releases everybody, as a broadcast does. DEEP
 * goes back to 0 when SERVED reaches ISSUED. Nothing else may lie: a ticket whose holder was
 * killed counts as one that waits.
 */
struct ipcwait_cond {
	struct ipcwait_word64 word; /* low half: the futex */
	struct ipcwait_word64 arrivals;
	struct ipcwait_window window; /* what its waits have taught */
	struct ipcwait_word32 out;    /* turns and tickets whose holders use it no more */
	uint32_t unused;              /* zero */
	uint32_t flags;               /* as given to init; all ones: finished */
	uint32_t reserved;            /* private: the process that waits on it; else zero */
};

/* A condition variable, for static initialisation. */
/* clang-format off */
#define IPCWAIT_COND_INIT \
	{ { 0 }, { 0 }, { { 0 }, { 0 }, { 0 } }, { 0 }, 0, 0, 0 }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_cond_init() - make a condition variable
 * @c:     memory for it, 8-byte aligned
 * @flags: 0 (usable between processes) or IPCWAIT_PRIVATE
 *
 * Not needed for memory that is all zero. Over a live one it forgets its waiters.
 *
 * Return: 0.
 *   -EINVAL  @c is NULL or misaligned, or unknown @flags; @c is unchanged
 *
 * Ordering:     none; publish @c to other threads yourself
 * Threads:      one, before any other call on @c
 * Processes:    any that map @c afterwards, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_cond_init(struct ipcwait_cond *c,
						     unsigned flags);

/**
 * ipcwait_cond_fini() - end a condition variable
 * @c: condition variable that nobody waits on any more
 *
 * Optional: it owns nothing outside its memory; but only after this call may the memory be used
 * for something else while waiters that were released have not yet returned. It waits until they
 * have let go of @c, for which they need no mutex; for a second at most where they may have been
 * killed, and as long as it takes if @c is private. Afterwards every call returns -EINVAL, until
 * ipcwait_cond_init().
 *
 * Return: 0.
 *   -EBUSY   somebody waits on @c, or was killed or, where it is shared, stopped doing so; it is
 *            unchanged
 *   -EINVAL  @c is NULL, misaligned or finished
 *   -ENOSYS  the kernel, or a filter, forbids futex(2); @c is unchanged
 *
 * Ordering:     acquire: what the waiters did with @c is over
 * Threads:      one, after every broadcast on @c has returned, and every signal but those that
 *               have released the caller
 * Processes:    holds for all that map @c
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_cond_fini(struct ipcwait_cond *c);

/**
 * ipcwait_cond_wait_until() - wait for a signal, giving up at @deadline_ns
 * @c:           condition variable, initialised or all-zero
 * @m:           mutex of any kind that the caller owns
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * The deadline ends the wait for the signal; locking @m again may take longer. A signal that came
 * before the deadline was noticed counts.
 *
 * Return: 0, as ipcwait_cond_wait(), and
 *   -ETIMEDOUT  deadline reached; no signal was taken
 *
 * Ordering:     as ipcwait_cond_wait()
 * Threads:      any that own @m; all waiters of the same time use the same @m
 * Processes:    any that map @c and @m, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe; no handler ends the wait
 * Cancellation: not a cancellation point
 * Lifetime:     @c must be mapped until a signal or the deadline ends the wait and
 *               ipcwait_cond_fini() has returned, @m until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_cond_wait_until(struct ipcwait_cond *c,
							   struct ipcwait_mutex *m,
							   int64_t deadline_ns);

/**
 * ipcwait_cond_wait() - unlock the mutex, wait for a signal, lock it again
 * @c: condition variable, initialised or all-zero
 * @m: mutex of any kind that the caller owns
 *
 * To unlock and to begin to wait are one step for whoever locks @m before it signals. A recursive
 * mutex is unlocked entirely, however often the caller has locked it, and locked as often again.
 *
 * Return: 0, a signal or broadcast has come, or nothing has. @m is locked again.
 *   -EOWNERDEAD       @m is robust, is locked, and its last owner died; see
 *                     ipcwait_mutex_consistent(). Whether a signal came is not known
 *   -ENOTRECOVERABLE  @m is robust and lost, and not locked
 *   -EPERM            the caller does not own @m, or, if it is plain, nobody does; nothing was done
 *   -EINVAL           @c or @m is NULL, misaligned or finished; nothing was done
 *   -ENOSYS           the kernel, or a filter, forbids futex(2); @m is locked if it was free
 *
 * Ordering:     that of unlocking and locking @m; acquire on 0 if it was a signal: sees what came
 *               before it
 * Threads:      any that own @m; all waiters of the same time use the same @m
 * Processes:    any that map @c and @m, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe; no handler ends the wait
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_cond_wait_until()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_cond_wait(struct ipcwait_cond *c, struct ipcwait_mutex *m);

/**
 * ipcwait_cond_signal() - release one waiter
 * @c: condition variable, initialised or all-zero
 *
 * With or without the mutex of the waiters. Nothing is remembered if nobody waits.
 *
 * Return: 0.
 *   -EINVAL  @c is NULL, misaligned or finished
 *
 * Ordering:     release: the wait that it ends sees what came before
 * Threads:      any
 * Processes:    any that map @c, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @c is not touched once a waiter is released; a wake system call may still use
 *               its address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_cond_signal(struct ipcwait_cond *c);

/**
 * ipcwait_cond_broadcast() - release all waiters
 * @c: condition variable, initialised or all-zero
 *
 * As ipcwait_cond_signal(), for everybody who waits. All sleepers have been woken when it returns.
 *
 * Return: 0.
 *   -EINVAL  @c is NULL, misaligned or finished
 *
 * Ordering:     release: the waits that it ends see what came before
 * Threads:      any
 * Processes:    any that map @c, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @c is not touched once all waiters are released; a wake system call may still
 *               use its address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_cond_broadcast(struct ipcwait_cond *c);

IPCWAIT_END_DECLS

#endif
