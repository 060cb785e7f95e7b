/* SPDX-License-Identifier: MIT */
/*
 * Barrier: a number of threads, the parties, wait for each other, round after round.
 *
 *	static struct ipcwait_barrier all = IPCWAIT_BARRIER_INIT(4);
 *
 *	void work(void)                            // in four threads
 *	{
 *		for (;;) {
 *			do_my_part();
 *			if (ipcwait_barrier_wait(&all) == IPCWAIT_BARRIER_SERIAL)
 *				collect_the_parts();
 *			ipcwait_barrier_wait(&all);
 *		}
 *	}
 *
 * Cost: an arrival is one atomic operation, leaving after a wait another one. The last
 * arrival makes one system call if somebody sleeps, however many do, and usually none if
 * all spin.
 *
 * Guarantees: what any party did before a round's end is seen by each of them after it. One
 * party in each round is told that it was the last. A wait that returns an error has taken
 * its arrival back, and the barrier goes on as if it had not been called. Any thread may
 * call ipcwait_barrier_fini() as soon as its own wait has returned.
 *
 * Limits: at most IPCWAIT_BARRIER_PARTIES_MAX parties, and 65535 threads that were released
 * and have not returned yet. Parties need not be the same threads in each round.
 *
 * fork(2): in the child's copy of a private barrier nobody has arrived.
 *
 * Death: a process that is killed while it waits has arrived, so its round needs one party
 * less. If it was the last to arrive and had not yet woken the others, those who sleep find out
 * by themselves: they look after 1, 2, 4 and then every 8 seconds, but for private barriers.
 * Who has to expect deaths before the arrival, waits with a deadline.
 *
 * Layout: 32 bytes, the same in every process. State word: docs/design/gates.md.
 */
#ifndef IPCWAIT_BARRIER_H
#define IPCWAIT_BARRIER_H

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/* Largest number of parties. */
#define IPCWAIT_BARRIER_PARTIES_MAX 32767

/* What a wait returns in the last party to arrive. */
#define IPCWAIT_BARRIER_SERIAL 1

/*
 * barrier.word
 *   bits 0-31   ROUND    how many rounds have ended, modulo 2^32
 *   bit 32      SLEEPS   a party of this round may sleep
 *   bits 33-47  ARRIVED  parties of this round that have arrived; all of them wait
 *   bits 48-63  LEAVING  parties of earlier rounds that have not left yet
 *
 *   ROUND SLEEPS ARRIVED LEAVING
 *     r     0      0       0      at rest            (r = 0: the all-zero state)
 *     r     0      a       l      a parties wait, all of them awake; l are on their way out
 *     r     1      a       l      a parties wait, some of them may sleep
 *     r     1      0       l      never
 *     r     any  PARTIES   l      never
 *
 *   r,a -> r,a+1            arrive         any thread      a + 1 < PARTIES
 *   r,a,l -> r+1,0,l+a      end the round  last party      a + 1 = PARTIES; SLEEPS -> 0, and
 *                                                          wake all if it was 1
 *   SLEEPS 0 -> 1           go to sleep    waiting party   in its own round only
 *   r,a -> r,a-1            take back      expired party   in its own round only;
 *                                                          SLEEPS -> 0 with the last one
 *   l -> l-1                leave          released party
 *   r,a,l -> r,0,0          forget         any, fini       in the copy of a child of fork(2), if
 *                                                          private: before its first; SLEEPS -> 0
 *
 * SLEEPS may be set although nobody sleeps: costs a needless wake at the end of the round.
 * Clear while a party of this round sleeps, it is a lost wake-up and must be impossible: whoever
 * waits in this round is counted in ARRIVED, and only the end of the round, or the last of
 * those to take its arrival back, clears it. LEAVING may be too large (a party was killed):
 * ipcwait_barrier_fini() returns -EBUSY.
 */
struct ipcwait_barrier {
	struct ipcwait_word64 word;   /* low half: the futex */
	uint16_t parties;             /* 0: not usable */
	uint16_t flags;               /* as given to init; all ones: finished */
	uint32_t reserved;            /* private: the process that waits on it; else zero */
	struct ipcwait_window window; /* what its waits have taught */
};

/* A barrier for @parties threads, for static initialisation. */
/* clang-format off */
#define IPCWAIT_BARRIER_INIT(parties) \
	{ { 0 }, (uint16_t)(parties), 0, 0, { { 0 }, { 0 }, { 0 } } }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_barrier_init() - make a barrier for @parties threads
 * @b:       memory for the barrier, 8-byte aligned
 * @parties: how many have to arrive to end a round, 1 .. IPCWAIT_BARRIER_PARTIES_MAX
 * @flags:   0 (usable between processes) or IPCWAIT_PRIVATE
 *
 * Memory that is all zero is a barrier of no parties, with which every wait fails. Over a live
 * barrier it forgets its waiters.
 *
 * Return: 0.
 *   -EINVAL  @b is NULL or misaligned, @parties is out of range, or unknown @flags; @b is
 *            unchanged
 *
 * Ordering:     none; publish @b to other threads yourself
 * Threads:      one, before any other call on @b
 * Processes:    any that map @b afterwards, unless IPCWAIT_PRIVATE
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_barrier_init(struct ipcwait_barrier *b,
							uint32_t parties, unsigned flags);

/**
 * ipcwait_barrier_fini() - end a barrier that nobody waits for any more
 * @b: barrier
 *
 * Waits for those whom a round's end has released and who are still on their way out of their
 * waits, for a second at most. Afterwards nobody touches @b, and other calls on it return
 * -EINVAL until ipcwait_barrier_init().
 *
 * Return: 0.
 *   -EBUSY   somebody waits for the end of a round; or was killed, stopped or kept from
 *            running for a second on his way out: @b is unchanged
 *   -EINVAL  @b is NULL, misaligned or finished
 *   -ENOSYS  the kernel, or a filter, forbids futex(2), and there was somebody to wait for
 *
 * Ordering:     acquire on 0: what other parties did to @b has happened before
 * Threads:      one, which may be any party as soon as its own wait has returned
 * Processes:    holds for all that map @b
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here; only a wake system call may still use the address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_barrier_fini(struct ipcwait_barrier *b);

/**
 * ipcwait_barrier_wait() - wait until all parties have arrived
 * @b: barrier of at least one party
 *
 * Spins for the barrier's learned window, then sleeps. No signal ends it.
 *
 * Return: IPCWAIT_BARRIER_SERIAL, which is 1, to the last party that has arrived; 0 to the
 * others.
 *   -EINVAL  @b is NULL, misaligned, finished or has no parties
 *   -ENOSYS  the kernel, or a filter, forbids futex(2); the arrival was taken back
 *
 * Ordering:     acquire and release unless it fails: sees what each party did before it arrived
 * Threads:      any
 * Processes:    any that map @b, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @b is touched until it returns, even in a party that was released;
 *               ipcwait_barrier_fini() waits for that
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_barrier_wait(struct ipcwait_barrier *b);

/**
 * ipcwait_barrier_wait_until() - wait for all parties, giving up at @deadline_ns
 * @b:           barrier of at least one party
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Who gives up takes his arrival back: the round then needs another party in his place. If the
 * round ends at the same time he has not given up.
 *
 * Return: as ipcwait_barrier_wait().
 *   -ETIMEDOUT  deadline reached; the arrival was taken back
 *   -EINVAL     @b is NULL, misaligned, finished or has no parties
 *   -ENOSYS     the kernel, or a filter, forbids futex(2); the arrival was taken back
 *
 * Ordering:     as ipcwait_barrier_wait()
 * Threads:      any
 * Processes:    any that map @b, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_barrier_wait()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_barrier_wait_until(struct ipcwait_barrier *b,
							      int64_t deadline_ns);

IPCWAIT_END_DECLS

#endif
