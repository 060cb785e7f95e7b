/* SPDX-License-Identifier: MIT */
/*
 * Once: something is done by the first who needs it, and the others wait until it is done.
 *
 *	static struct ipcwait_once tables = IPCWAIT_ONCE_INIT;
 *
 *	static int make_tables(void *arg) { ... return 0; }
 *
 *	int use_tables(void)
 *	{
 *		int r = ipcwait_once_run(&tables, make_tables, NULL);
 *
 *		if (r)
 *			return r;                  // what make_tables() returned
 *		...
 *	}
 *
 * Cost: once it is done, one load in the caller. The run itself is two atomic operations, and a
 * few system calls if the thread does not know yet who it is.
 *
 * Guarantees: the function runs until it has returned 0 once, and never in two threads at a
 * time. Every call that returns 0 sees all that it did. If it fails, one of those who wait, or
 * the next to come, runs it again, after the other run is over and sees what that did.
 *
 * Left: an exception (of C++, say) that comes out of the function, or its thread's end by
 * pthread_exit(3) or cancellation, ends the run as a failure does, and goes on to the caller.
 * longjmp(3) is not seen: the run lasts until the thread ends, the others wait that long, and
 * the thread itself gets -EDEADLK. Return an error, and jump then. Where C has no unwind tables
 * of itself, which it has for x86-64 and aarch64, what is to be left needs -fexceptions.
 *
 * Kinds: IPCWAIT_ONCE_INIT is for a static object, private to a process: a child of fork(2) has
 * a copy of it, and if somebody was at work on it in the parent, the next call in the child
 * begins anew. All-zero bytes are a once that processes share; there a child of fork(2) waits for
 * a thread of its parent's like anybody else.
 *
 * Death: if the process that runs the function ends, or the thread in a way that is not seen,
 * one of those who wait notices within a second, usually within 10 ms, and runs it again over
 * whatever the dead one has left. Where nothing can be proven (without /proc, between PID
 * namespaces, beyond the calling user's rights), the others go on waiting.
 *
 * Layout: 32 bytes, the same in every process. State word: docs/design/gates.md.
 */
#ifndef IPCWAIT_ONCE_H
#define IPCWAIT_ONCE_H

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/*
 * once.word
 *   bit 0       SLEEPS  somebody may sleep until the run is over
 *   bit 1       DONE    the function has returned 0
 *   bits 2-9    zero
 *   bits 10-31  RUNNER  id of the thread that runs the function, 0: nobody does
 *   bits 32-63  BIRTH   when it began; of a private once, its process: how many forks led there,
 *                       or its id where that cannot be told
 *
 *   BIRTH RUNNER DONE SLEEPS
 *     0     0     0     0     open: all-zero
 *     b     t     0     0     runs in thread t; those who wait are awake
 *     b     t     0     1     runs in thread t; some of them may sleep
 *     0     0     1     0     done, for good
 *     any  any    1     any   never, but for the line above
 *     0     0     0     1     never
 *
 *   0,0 -> b,t            begin         any thread      open only
 *   b,t -> 0,0 DONE       succeed       runner          SLEEPS -> 0, and wake all if it was 1
 *   b,t -> 0,0            fail          runner          the same
 *   b,t -> 0,0            leave         runner          the same, while the stack is unwound
 *   b,t -> b',t'          take over     waiter          t is proven dead; SLEEPS stays
 *   SLEEPS 0 -> 1         go to sleep   waiter          while somebody runs it
 *
 * SLEEPS may be set although nobody sleeps: costs a needless wake. Clear while a thread sleeps,
 * it is a lost wake-up and must be impossible: only the end of a run clears it, and wakes all.
 */
struct ipcwait_once {
	struct ipcwait_word64 word;   /* low half: the futex */
	uint32_t flags;               /* as given to init; all ones: finished */
	uint32_t reserved;            /* zero; checked builds: who made a private one */
	struct ipcwait_window window; /* what its waits have taught */
};

#define IPCWAIT_IMPL_ONCE_DONE UINT64_C(2)

/* For a static once of one process, as by ipcwait_once_init() with IPCWAIT_PRIVATE. */
/* clang-format off */
#define IPCWAIT_ONCE_INIT \
	{ { 0 }, IPCWAIT_PRIVATE, 0, { { 0 }, { 0 }, { 0 } } }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_once_init() - make a once
 * @o:     memory for it, 8-byte aligned
 * @flags: 0 (usable between processes) or IPCWAIT_PRIVATE
 *
 * Not needed for memory that is all zero. Over a live once it forgets its waiters.
 *
 * Return: 0.
 *   -EINVAL  @o is NULL or misaligned, or unknown @flags; @o is unchanged
 *
 * Ordering:     none; publish @o to other threads yourself
 * Threads:      one, before any other call on @o
 * Processes:    any that map @o afterwards, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_once_init(struct ipcwait_once *o,
						     unsigned flags);

/**
 * ipcwait_once_fini() - end a once
 * @o: once that nobody uses any more
 *
 * Optional: it owns nothing outside its memory. Afterwards ipcwait_once_run() returns -EINVAL,
 * until ipcwait_once_init().
 *
 * Return: 0.
 *   -EBUSY   somebody runs its function, or died doing so; @o is unchanged
 *   -EINVAL  @o is NULL, misaligned or finished
 *
 * Ordering:     none
 * Threads:      one, after every other call on @o has returned
 * Processes:    holds for all that map @o
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_once_fini(struct ipcwait_once *o);

/* Out-of-line rest of the inline function below. Exported, not API. */
IPCWAIT_API int ipcwait_impl_once_run_slow(struct ipcwait_once *o, int (*fn)(void *),
					   void *arg);

/**
 * ipcwait_once_run() - do something unless it has been done
 * @o:   once, initialised or all-zero
 * @fn:  what is to be done; it returns 0 when it has done it
 * @arg: its argument
 *
 * If somebody else is at it the caller waits for him: it spins for the once's learned window,
 * then sleeps. No signal ends the wait. @fn should not return the errors below. It may be left by
 * an exception, or end its thread: @o is open again. It may end its process or call exec(3): that
 * counts as a death.
 *
 * Return: 0, it has been done, now or before; or the value that is not 0 which @fn has returned
 * to this caller: then it has not been done, and @o is open again.
 *   -EDEADLK  called from inside @fn
 *   -EINVAL   @o is misaligned or finished, or @fn is NULL
 *   -ENOSYS   the kernel, or a filter, forbids futex(2), and there was somebody to wait for
 *
 * Ordering:     acquire on 0: sees what @fn did in whichever thread
 * Threads:      any
 * Processes:    any that map @o, each with its own @fn, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point, unless @fn is
 * Lifetime:     the caller may free @o at once, even if the call that has done it has not
 *               returned, but not before every other call that waits has
 * errno:        untouched, but by @fn
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_once_run(struct ipcwait_once *o, int (*fn)(void *), void *arg)
{
	/* ORD once.A1: acquire, so the caller sees what @fn did. Pairs with once.R1. */
	if (IPCWAIT_IMPL_FAST(ipcwait_impl_load64_acquire(&o->word) ==
			      IPCWAIT_IMPL_ONCE_DONE))
		return 0;
	return ipcwait_impl_once_run_slow(o, fn, arg);
}

IPCWAIT_END_DECLS

#endif
