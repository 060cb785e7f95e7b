/* SPDX-License-Identifier: MIT */
/*
 * Mutual exclusion between threads, of one process or of several.
 *
 *	static struct ipcwait_mutex lock;          // all zero: plain, default policy
 *
 *	ipcwait_mutex_lock(&lock);
 *	balance += amount;
 *	ipcwait_mutex_unlock(&lock);
 *
 * Cost: locking what is free and unlocking what nobody waits for is one atomic operation each,
 * in the caller. An unlock that a spinning waiter sees makes no system call, unless another one
 * has waited for too long; any other makes at most one.
 *
 * Guarantees: one owner at a time. A lock that returns an error other than -EOWNERDEAD has not
 * locked. An unlock touches the mutex for the last time before anybody else can own it, so the
 * next owner may unlock, destroy and free it at once.
 *
 * Order among waiters: none. A running thread may overtake a sleeping one, because a mutex that
 * is kept for a sleeper is idle for a whole wake-up, 17 to 50 us on the project's guest. But
 * a waiter keeps it from the others when its turn has come: after the longer of 1 ms and 20 B
 * (policy.h) for each who slept when it went to sleep, itself included. It looks then, though not
 * sooner than 5 ms after it fell asleep. Where sections are so short that to hand the mutex over
 * costs more than they last, whoever has it may have it again and again until then.
 *
 * Kinds. IPCWAIT_RECURSIVE: the owner may lock again, and unlocks as often. IPCWAIT_ERRORCHECK:
 * then it gets -EDEADLK. IPCWAIT_ROBUST: a mutex whose owner died is had with -EOWNERDEAD, by
 * one waiter, who repairs what it protects and calls ipcwait_mutex_consistent(). These three
 * know their owner, and cost a call each way. Robust may be joined with one of the others.
 * A plain mutex does not know its owner: locking it twice is a deadlock, and any thread can
 * unlock it.
 *
 * There is no priority inheritance: docs/adr/0020-no-priority-inheritance.md. No ipcwait_mutex
 * function is async-signal-safe or a cancellation point, and no signal ends a wait.
 *
 * Layout: 32 bytes, the same in every process. State word: docs/design/mutex.md.
 */
#ifndef IPCWAIT_MUTEX_H
#define IPCWAIT_MUTEX_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/* Kinds, for ipcwait_mutex_init(). Without any: a plain mutex. */
#define IPCWAIT_RECURSIVE  0x10u
#define IPCWAIT_ERRORCHECK 0x20u
#define IPCWAIT_ROBUST     0x40u

/* How often a thread may lock a recursive mutex. */
#define IPCWAIT_RECURSION_MAX 65536

/*
 * mutex.word
 *   bits 0-15   SLEEPERS  waiters that have announced a sleep and not yet come back
 *   bit 16      WAKE      one of these is awake, or a wake is on its way to it
 *   bits 17-31  PROCESS   of the last owner, which with OWNER names a thread in every PID
 *                         namespace; 0 where OWNER is a thread id. Without meaning where OWNER
 *                         is 1 or 0: a plain mutex that checked programs (-Dchecked=true) use
 *                         beside others may keep theirs
 *   bits 32-53  OWNER     0: free. A plain mutex: 1. Robust: the owner's thread id. Other kinds:
 *                         one thread of PROCESS
 *   bit 54      URGENT    only a waiter that is overdue may take it
 *   bit 55      DIED      an owner died, and nobody has called ipcwait_mutex_consistent()
 *   bit 56      LOST      unlocked while DIED: never to be owned again
 *   bit 57      QUIET     sleepers were woken in vain; they have set alarms and want no wake
 *   bits 58-60  PASSES    unlocks since a waiter last went to sleep, at most 7
 *   bit 61      TIMED     the owner's section is measured: it unlocks out of line
 *   bit 62      CHECKED   every kind but plain: the inline functions miss
 *   bit 63      SPINNER   a waiter that is not counted in SLEEPERS is looking
 *
 *   OWNER  WAKE  SLEEPERS
 *     0     0       0       free          (all zero, or CHECKED only)
 *     t     0       0       owned, nobody sleeps
 *     t     0       s       owned, s threads asleep
 *     t     1       s       owned, one of s is up or about to be
 *     0     1       s       free, one of s is about to take it
 *     0     0       s       free, for a spinner (SPINNER), or until an alarm (QUIET)
 *
 *   WAKE, URGENT, QUIET, PASSES   never without SLEEPERS
 *   TIMED                         never without OWNER
 *   LOST                          never without DIED, never with OWNER
 *
 *   0 -> t                  lock            any thread       not over URGENT, unless overdue
 *   t -> 0                  unlock          owner            with s = 0, or SPINNER, QUIET, WAKE;
 *                                                            TIMED -> 0
 *   t,0,s -> 0,1,s          unlock          owner            then wake one; of those overdue
 *                                                            if URGENT, which SPINNER and QUIET
 *                                                            do not stop
 *   t,k,s -> t,0,s+1        announce sleep  waiter           PASSES -> 0; QUIET -> 1 if it has
 *                                                            spun in vain, or a wake would be
 *   t,k,s -> t,0,s          sleep again     waiter, up       PASSES, SPINNER -> 0; QUIET -> 1 if
 *                                                            it was up in vain and nobody naps,
 *                                                            -> 0 if its alarm rang; URGENT -> 1
 *                                                            if overdue
 *   t,0,s -> t,1,s          look            sleeper, up      URGENT -> 1 if overdue; not beside
 *                                                            the URGENT of others if not
 *   SPINNER 0 -> 1          look            spinning waiter  while s > 0; PASSES -> 0
 *   0,k,s -> t,0,s-1        take            sleeper, up      its QUIET or URGENT -> 0, and QUIET
 *                                                            if its alarm rang; TIMED -> 1 for
 *                                                            one in sixteen that had to wait
 *   t,k,s -> t,0,s-1        give up         expired waiter   the same, without TIMED
 *   0,k,s -> 0,k,s+1, s-1   announce,       not overdue      beside the URGENT of others, or LOST:
 *                           give up                          who takes it clears WAKE
 *   t -> 0, DIED -> 1       bury            waiter           after proof that thread t is dead
 *
 * WAKE, SPINNER, QUIET and URGENT may lie, after a death or because a thread has lost its CPU:
 * then a free mutex lies beside sleepers. So every sleep has an alarm, after 5 ms at first, and
 * none of these bits outlives the look of a waiter that an alarm has woken; URGENT, of one that is
 * overdue. While nobody dies or is kept from running, only QUIET leaves a free mutex beside
 * sleepers, for a nap. SLEEPERS may be too large (waiters were killed), for good: a needless wake
 * after each wait, and alarms of the others a patience later for each, up to a second in all; a
 * tenth of one where the mutex is robust.
 */
struct ipcwait_mutex {
	struct ipcwait_word64 word; /* low half: the futex */
	uint16_t flags;             /* as given to init; all ones: finished */
	uint16_t count;             /* the owner's: how often more it must unlock */
	struct ipcwait_word32
		note; /* robust: the owner's birth; else what sections taught */
	struct ipcwait_window window; /* what its waits have taught */
};

#define IPCWAIT_IMPL_MUTEX_OWNER_ONE (UINT64_C(1) << 32)
#define IPCWAIT_IMPL_MUTEX_CHECKED   (UINT64_C(1) << 62)

/* A plain mutex, for static initialisation. */
/* clang-format off */
#define IPCWAIT_MUTEX_INIT { { 0 }, 0, 0, { 0 }, { { 0 }, { 0 }, { 0 } } }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_mutex_init() - make a mutex
 * @m:     memory for the mutex, 8-byte aligned
 * @flags: 0 (plain, usable between processes) or a sum of IPCWAIT_PRIVATE, IPCWAIT_ROBUST and one
 *         of IPCWAIT_RECURSIVE and IPCWAIT_ERRORCHECK
 *
 * Not needed for a plain mutex in memory that is all zero. Over a live mutex it forgets owner and
 * waiters.
 *
 * Return: 0. On error @m is unchanged.
 *   -EINVAL   @m is NULL or misaligned, unknown @flags, or both RECURSIVE and ERRORCHECK
 *   -ENOTSUP  IPCWAIT_ROBUST where /proc is not mounted, or while no file descriptor is free: the
 *             death of an owner could not be proven
 *
 * Ordering:     none; publish @m to other threads yourself
 * Threads:      one, before any other call on @m
 * Processes:    any that map @m afterwards, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_mutex_init(struct ipcwait_mutex *m,
						      unsigned flags);

/**
 * ipcwait_mutex_fini() - end a mutex
 * @m: mutex that is free and that nobody waits for
 *
 * Optional: a mutex owns nothing outside its memory. Afterwards every call returns -EINVAL, but
 * for a lock and unlock of a plain mutex that the program was wrong to call: they deadlock or fail.
 *
 * Return: 0.
 *   -EBUSY   it is locked, somebody sleeps on it, or was killed doing so; it is unchanged
 *   -EINVAL  @m is NULL, misaligned or finished
 *
 * Ordering:     none
 * Threads:      one, after every other call on @m has returned, except unlocks whose mutex the
 *               caller has owned since
 * Processes:    holds for all that map @m
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_mutex_fini(struct ipcwait_mutex *m);

/**
 * ipcwait_mutex_lock_until() - lock, giving up at @deadline_ns
 * @m:           mutex, initialised or all-zero
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * What is free is locked even if the deadline has passed.
 *
 * Return: 0, the caller owns @m; as ipcwait_mutex_lock(), and
 *   -ETIMEDOUT  deadline reached
 *
 * Ordering:     acquire on 0 and -EOWNERDEAD: sees what the last owner did
 * Threads:      any
 * Processes:    any that map @m, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe; no handler ends the wait
 * Cancellation: not a cancellation point
 * Lifetime:     @m must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_mutex_lock_until(struct ipcwait_mutex *m,
							    int64_t deadline_ns);

/**
 * ipcwait_mutex_consistent() - what the mutex protects has been repaired
 * @m: robust mutex that the caller has got with -EOWNERDEAD
 *
 * Unlocked without this call, the mutex is lost: all who wait for it and whoever comes later
 * get -ENOTRECOVERABLE.
 *
 * Return: 0.
 *   -EINVAL  @m is not robust, nobody has died owning it, or it is finished
 *   -EPERM   the caller does not own it
 *
 * Ordering:     none
 * Threads:      the owner
 * Processes:    any that map @m
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @m must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_mutex_consistent(struct ipcwait_mutex *m);

/* Out-of-line rest of the inline functions below. Exported, not API. */
IPCWAIT_API int ipcwait_impl_mutex_lock_slow(struct ipcwait_mutex *m);
IPCWAIT_API int ipcwait_impl_mutex_trylock_slow(struct ipcwait_mutex *m);
IPCWAIT_API int ipcwait_impl_mutex_unlock_slow(struct ipcwait_mutex *m);

/**
 * ipcwait_mutex_lock() - lock, waiting if necessary
 * @m: mutex, initialised or all-zero
 *
 * Spins for the mutex's learned window, unless another waiter does, then sleeps.
 *
 * Return: 0, the caller owns @m.
 *   -EOWNERDEAD       robust: the caller owns @m, and what it protects may be broken, because the
 *                     last owner died; see ipcwait_mutex_consistent()
 *   -ENOTRECOVERABLE  robust: lost, see there
 *   -ENOTSUP          robust: the caller is in another PID or time namespace than whoever made
 *                     the mutex, so that its death could not be proven
 *   -EDEADLK          IPCWAIT_ERRORCHECK or IPCWAIT_ROBUST: the caller owns @m already
 *   -EAGAIN           IPCWAIT_RECURSIVE: the caller has locked it IPCWAIT_RECURSION_MAX times
 *   -EINVAL           @m is misaligned or finished
 *   -ENOSYS           the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0 and -EOWNERDEAD: sees what the last owner did
 * Threads:      any
 * Processes:    any that map @m, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe; no handler ends the wait
 * Cancellation: not a cancellation point
 * Lifetime:     @m must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_mutex_lock(struct ipcwait_mutex *m)
{
	uint64_t w = 0;

	/*
	 * ORD mutex.A1: acquire on success, so that the owner sees what the last one did. Pairs
	 * with mutex.R1, mutex.R2 and mutex.R3, directly or through read-modify-writes in between.
	 */
	if (IPCWAIT_IMPL_FAST(
		    ipcwait_impl_cas64_acquire(&m->word, &w, IPCWAIT_IMPL_MUTEX_OWNER_ONE)))
		return 0;
	return ipcwait_impl_mutex_lock_slow(m);
}

/**
 * ipcwait_mutex_trylock() - lock if that is possible at once
 * @m: mutex, initialised or all-zero
 *
 * Return: 0, the caller owns @m; as ipcwait_mutex_lock(), except that it is
 *   -EBUSY  owned by another thread, or also by the caller unless it is recursive, or kept, for a
 *           millisecond, for a waiter that has waited for too long; by a dead owner too, until
 *           somebody waits
 *
 * Ordering:     acquire on 0 and -EOWNERDEAD: sees what the last owner did
 * Threads:      any
 * Processes:    any that map @m, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @m must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_mutex_trylock(struct ipcwait_mutex *m)
{
	uint64_t w = 0;

	/* ORD mutex.A2: acquire on success. Pairs with mutex.R1, mutex.R2 and mutex.R3. */
	if (IPCWAIT_IMPL_FAST(
		    ipcwait_impl_cas64_acquire(&m->word, &w, IPCWAIT_IMPL_MUTEX_OWNER_ONE)))
		return 0;
	return ipcwait_impl_mutex_trylock_slow(m);
}

/**
 * ipcwait_mutex_unlock() - end the ownership, or one of its levels
 * @m: mutex that the caller owns
 *
 * Return: 0.
 *   -EPERM   the caller does not own it, or, if it is plain, nobody does; it is unchanged
 *   -EINVAL  @m is misaligned or finished
 *
 * Ordering:     release on 0: the next owner sees what came before
 * Threads:      the owner; a plain mutex may be unlocked by any thread
 * Processes:    any that map @m, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @m is not touched once another thread can own it; a wake system call may still
 *               use its address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_mutex_unlock(struct ipcwait_mutex *m)
{
	/* ORD mutex.X1: relaxed, re-checked by the CAS: spares those with sleepers one in vain. */
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);

	/*
	 * ORD mutex.R1: release on success, to the next owner. Pairs with mutex.A1, mutex.A2,
	 * mutex_wait.A1, mutex.A3 and mutex.A4.
	 */
	if (IPCWAIT_IMPL_FAST(w == IPCWAIT_IMPL_MUTEX_OWNER_ONE) &&
	    IPCWAIT_LIKELY(ipcwait_impl_cas64_release(&m->word, &w, 0)))
		return 0;
	return ipcwait_impl_mutex_unlock_slow(m);
}

IPCWAIT_END_DECLS

#endif
