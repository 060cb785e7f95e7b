/* SPDX-License-Identifier: MIT */
/*
 * Reader-writer lock, between threads of one process or of several.
 *
 *	static struct ipcwait_rwlock lock;         // all zero: free, default policy
 *
 *	ipcwait_rwlock_rdlock(&lock);
 *	route = find(&table, address);
 *	ipcwait_rwlock_rdunlock(&lock);
 *
 * Cost: to lock what is free, or only read, and to unlock what nobody waits for, is one atomic
 * operation each, in the caller. Readers share a counter: many short reads on many CPUs pass one
 * cache line around, and are no faster than with a mutex. An unlock makes at most one system
 * call, and none for a writer that spins.
 *
 * Guarantees: one writer, or any number of readers. A lock that returns an error has not locked.
 * An unlock touches the lock for the last time before anybody whom it had kept out can have it,
 * so the next writer may unlock, end and free it at once.
 *
 * Neither side starves. A writer that sleeps keeps new readers out, so it waits for those who
 * read already. When a writer unlocks, all readers who sleep at that moment get in before the
 * next writer, so a reader waits for one writer, and no others may overtake it. (A thread spins
 * before it sleeps, for its learned window, and has none of these rights while it does.)
 * Among writers a running one may overtake a sleeping one, but not one that has waited for the
 * longer of 4 ms and 20 B (policy.h): such a writer is next.
 *
 * A thread that reads must not ask to read again: if a writer has come to wait in between, that
 * is a deadlock, as POSIX has it. Nor can a reader become a writer: it waits for itself.
 *
 * Limits: at most IPCWAIT_RWLOCK_READERS_MAX readers. The lock does not know who holds it. 16383
 * sleeping readers and as many writers at a time are woken. A waiter beyond these checks after 1
 * ms, and doubles that time after each check, up to 2n ms when n such waiters sleep in the
 * process. No function is async-signal-safe or a cancellation point, and no signal ends a wait.
 *
 * Death: the lock is not robust. If a process dies that holds it, it stays held for ever. One that
 * dies while it waits, or between an unlock and its wake, holds nobody up for good: those who
 * wait look after 4 ms, and again after twice as long each time, at last once a second, and the
 * second look at the latest puts right what it has left. That is 12 ms for who comes after the
 * death. A call that only tries notices after 5 ms, but for a writer that died behind a reader.
 *
 * Layout: 32 bytes, the same in every process. State word: docs/design/rwlock.md.
 */
#ifndef IPCWAIT_RWLOCK_H
#define IPCWAIT_RWLOCK_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/* How many may read at a time. */
#define IPCWAIT_RWLOCK_READERS_MAX 0x1fffff

/*
 * rwlock.word
 *   bits 0-13   RSLEEPERS  readers that have announced a sleep and not yet come back
 *   bit 14      TURN       these were all woken, and no writer may have it until they came
 *   bits 15-28  WSLEEPERS  writers that have announced a sleep and not yet come back
 *   bit 29      WAKE       a wake is on its way to one of these
 *   bits 30-31  EPOCH      of the two counts; waiters of another one are not in them
 *   bits 32-52  READERS    that hold it
 *   bits 53-59  zero
 *   bit 60      TIMED      the writer's section is measured: it unlocks out of line
 *   bit 61      URGENT     of writers, only one that is overdue may take it
 *   bit 62      SPINNER    a writer is looking while others sleep
 *   bit 63      WRITER     that holds it
 *
 *   WRITER READERS TURN WAKE WSLEEPERS RSLEEPERS
 *     0      0      0    0      0         0       free          (the all-zero state)
 *     0      n      0    0      0         0       n readers
 *     0      n      0    0      s         r       n readers, new ones wait behind s writers
 *     1      0      0    any    s         r       a writer; r readers have the next turn
 *     0      n      1    any    s         r       r readers are still to come, others may join
 *     0      0      0    1      s         r       free, for a writer that is about to take it
 *     0      0      0    0      s         r       free, for a writer that spins
 *     0      any    0    any    0         > 0     never
 *     1      0      1                             never, nor TURN without RSLEEPERS
 *   TIMED                                         never without WRITER
 *
 *   n -> n+1                read             any reader      no WRITER; no WSLEEPERS, or TURN
 *   n,r -> n+1,r-1          read             sleeping reader the same; TURN -> 0 with the last
 *   0 -> WRITER             write            any writer      free; not over URGENT; TIMED -> 1
 *                                                            for one in sixteen that had to wait
 *   0,s -> WRITER,s-1       write            sleeping writer WAKE -> 0; if overdue URGENT -> 0
 *   n -> n-1                rdunlock         reader          if free then: leave, see below
 *   WRITER -> 0, TURN -> 1  wrunlock         writer          r > 0; wake all readers; TIMED -> 0
 *   WRITER -> 0             wrunlock         writer          r = 0; leave, see below; TIMED -> 0
 *   WAKE -> 1               leave            both            s > 0; wake a writer: one that is
 *                                                            overdue if URGENT; else only if
 *                                                            there was no WAKE and no SPINNER
 *   SPINNER -> 0            leave            both            it is relied on once
 *   r -> r+1                announce sleep   reader
 *   WAKE -> 1               sleep again      reader          kept out by writers: wake one, to
 *                                                            see whether any lives
 *   s -> s+1, WAKE -> 0     announce sleep   writer          SPINNER -> 0; if overdue URGENT ->
 *                                                            1; WAKE stays where it is free
 *   SPINNER 0 -> 1          look             spinning writer s > 0, no WAKE
 *   r -> r-1                give up          expired reader
 *   s -> s-1, WAKE -> 0     give up          expired writer  TURN -> 1 and wake all readers, if
 *                                                            it was the last that kept them out
 *   n,all -> n,0            call the roll    waiter          TURN or WAKE for too long; EPOCH ->
 *                                                            +1, and wake all: they announce
 *                                                            themselves anew
 *   n,all -> n,0            forget           whoever waits   in the copy of a child of fork(2), if
 *                                            or tries, fini  private: before its first
 *
 * The counts may be too large, and TURN, WAKE, URGENT and SPINNER may be set for nobody: after a
 * death. Then a free lock lies beside sleepers, or is kept for nobody, until an alarm: each
 * sleep has one, but for readers of a private lock, where nobody dies.
 */
struct ipcwait_rwlock {
	struct ipcwait_word64 word; /* low half: the futex */
	uint32_t flags;             /* as given to init; all ones: finished */
	struct ipcwait_word32
		note; /* what writers have learned; private: who waits on it */
	struct ipcwait_window window; /* what its waits have taught */
};

#define IPCWAIT_IMPL_RWLOCK_READER_ONE (UINT64_C(1) << 32)
#define IPCWAIT_IMPL_RWLOCK_WRITER     (UINT64_C(1) << 63)

/* A free lock, for static initialisation. */
/* clang-format off */
#define IPCWAIT_RWLOCK_INIT { { 0 }, 0, { 0 }, { { 0 }, { 0 }, { 0 } } }
/* clang-format on */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_rwlock_init() - make a reader-writer lock
 * @l:     memory for the lock, 8-byte aligned
 * @flags: 0 (usable between processes) or IPCWAIT_PRIVATE
 *
 * Not needed for memory that is all zero. Over a live lock it forgets holders and waiters.
 *
 * Return: 0.
 *   -EINVAL  @l is NULL or misaligned, or unknown @flags; @l is unchanged
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
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_rwlock_init(struct ipcwait_rwlock *l,
						       unsigned flags);

/**
 * ipcwait_rwlock_fini() - end a reader-writer lock
 * @l: lock that is free and that nobody waits for
 *
 * Optional: a lock owns nothing outside its memory. Afterwards every other call returns -EINVAL,
 * until ipcwait_rwlock_init().
 *
 * Return: 0.
 *   -EBUSY   somebody reads, writes or sleeps on it, spins beside sleepers, or was killed doing
 *            so; it is unchanged
 *   -EINVAL  @l is NULL, misaligned or finished
 *
 * Ordering:     none
 * Threads:      one, after every other call on @l has returned, except unlocks after which the
 *               caller has had it for writing
 * Processes:    holds for all that map @l
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_rwlock_fini(struct ipcwait_rwlock *l);

/**
 * ipcwait_rwlock_rdlock_until() - lock for reading, giving up at @deadline_ns
 * @l:           lock, initialised or all-zero
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * What can be had at once is taken even if the deadline has passed.
 *
 * Return: 0, the caller reads. Any error: it does not.
 *   -ETIMEDOUT  deadline reached
 *   -EAGAIN     there are IPCWAIT_RWLOCK_READERS_MAX readers
 *   -EINVAL     @l is NULL, misaligned or finished
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what the writers before did
 * Threads:      any that does not hold @l
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe; no handler ends the wait
 * Cancellation: not a cancellation point
 * Lifetime:     @l must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_rwlock_rdlock_until(struct ipcwait_rwlock *l,
							       int64_t deadline_ns);

/**
 * ipcwait_rwlock_wrlock_until() - lock for writing, giving up at @deadline_ns
 * @l:           lock, initialised or all-zero
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * What can be had at once is taken even if the deadline has passed. A writer that gives up lets
 * the readers in that waited behind it.
 *
 * Return: 0, the caller writes. Any error: it does not.
 *   -ETIMEDOUT  deadline reached
 *   -EINVAL     @l is NULL, misaligned or finished
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what the readers and writers before did
 * Threads:      any that does not hold @l
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe; no handler ends the wait
 * Cancellation: not a cancellation point
 * Lifetime:     @l must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_rwlock_wrlock_until(struct ipcwait_rwlock *l,
							       int64_t deadline_ns);

/* Out-of-line rest of the inline functions below. Exported, not API. */
IPCWAIT_API int ipcwait_impl_rwlock_rdlock_slow(struct ipcwait_rwlock *l);
IPCWAIT_API int ipcwait_impl_rwlock_tryrdlock_slow(struct ipcwait_rwlock *l);
IPCWAIT_API int ipcwait_impl_rwlock_rdunlock_slow(struct ipcwait_rwlock *l);
IPCWAIT_API int ipcwait_impl_rwlock_wrlock_slow(struct ipcwait_rwlock *l);
IPCWAIT_API int ipcwait_impl_rwlock_trywrlock_slow(struct ipcwait_rwlock *l);
IPCWAIT_API int ipcwait_impl_rwlock_wrunlock_slow(struct ipcwait_rwlock *l);

/* n -> n+1 where there is no more to it: nobody writes, waits or spins, and there is room. */
static inline bool ipcwait_impl_rwlock_read_fast(struct ipcwait_rwlock *l)
{
	/* ORD rwlock.X1: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&l->word);

	/*
	 * ORD rwlock.A1: acquire on success, so that the reader sees what the last writer did.
	 * Pairs with rwlock.R2 and rwlock.R3, directly or through the read-modify-writes in
	 * between, which continue their release sequence.
	 */
	return IPCWAIT_IMPL_FAST((uint32_t)w == 0) &&
	       IPCWAIT_LIKELY((w >> 32) < IPCWAIT_RWLOCK_READERS_MAX) &&
	       IPCWAIT_LIKELY(ipcwait_impl_cas64_acquire(
		       &l->word, &w, w + IPCWAIT_IMPL_RWLOCK_READER_ONE));
}

/* 0 -> WRITER */
static inline bool ipcwait_impl_rwlock_write_fast(struct ipcwait_rwlock *l)
{
	uint64_t w = 0;

	/*
	 * ORD rwlock.A2: acquire on success, so that the writer sees what those before did, and
	 * writes after the readers have read. Pairs with rwlock.R1, rwlock.R2 and rwlock.R3.
	 */
	return IPCWAIT_IMPL_FAST(
		ipcwait_impl_cas64_acquire(&l->word, &w, IPCWAIT_IMPL_RWLOCK_WRITER));
}

/**
 * ipcwait_rwlock_rdlock() - lock for reading, waiting if necessary
 * @l: lock, initialised or all-zero
 *
 * Spins for the lock's learned window, then sleeps.
 *
 * Return: 0, the caller reads. Any error: it does not.
 *   -EAGAIN  there are IPCWAIT_RWLOCK_READERS_MAX readers
 *   -EINVAL  @l is misaligned or finished
 *   -ENOSYS  the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what the writers before did
 * Threads:      any that does not hold @l
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe; no handler ends the wait
 * Cancellation: not a cancellation point
 * Lifetime:     @l must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_rwlock_rdlock(struct ipcwait_rwlock *l)
{
	if (ipcwait_impl_rwlock_read_fast(l))
		return 0;
	return ipcwait_impl_rwlock_rdlock_slow(l);
}

/**
 * ipcwait_rwlock_tryrdlock() - lock for reading if that is possible at once
 * @l: lock, initialised or all-zero
 *
 * Return: 0, the caller reads. Any error: it does not.
 *   -EBUSY   somebody writes, or a writer sleeps and waits to
 *   -EAGAIN  there are IPCWAIT_RWLOCK_READERS_MAX readers
 *   -EINVAL  @l is misaligned or finished
 *
 * Ordering:     acquire on 0: sees what the writers before did
 * Threads:      any
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @l must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_rwlock_tryrdlock(struct ipcwait_rwlock *l)
{
	if (ipcwait_impl_rwlock_read_fast(l))
		return 0;
	return ipcwait_impl_rwlock_tryrdlock_slow(l);
}

/**
 * ipcwait_rwlock_rdunlock() - end a read
 * @l: lock that the caller reads under
 *
 * Return: 0.
 *   -EPERM   nobody reads; it is unchanged
 *   -EINVAL  @l is misaligned or finished
 *
 * Ordering:     release on 0: the next writer writes after what came before
 * Threads:      any reader, or on behalf of one
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @l is not touched once a writer can have it; a wake system call may still use
 *               its address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_rwlock_rdunlock(struct ipcwait_rwlock *l)
{
	/* ORD rwlock.X2: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&l->word);

	/*
	 * ORD rwlock.R1: release on success, so that what was read was there until now. Pairs
	 * with rwlock.A2 and rwlock_wait.A2.
	 */
	if (IPCWAIT_IMPL_FAST((uint32_t)w == 0) &&
	    IPCWAIT_LIKELY((w >> 32) - 1 < IPCWAIT_RWLOCK_READERS_MAX) &&
	    IPCWAIT_LIKELY(ipcwait_impl_cas64_release(&l->word, &w,
						      w - IPCWAIT_IMPL_RWLOCK_READER_ONE)))
		return 0;
	return ipcwait_impl_rwlock_rdunlock_slow(l);
}

/**
 * ipcwait_rwlock_wrlock() - lock for writing, waiting if necessary
 * @l: lock, initialised or all-zero
 *
 * Spins for the lock's learned window, unless another writer does beside sleepers, then sleeps.
 *
 * Return: 0, the caller writes. Any error: it does not.
 *   -EINVAL  @l is misaligned or finished
 *   -ENOSYS  the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0: sees what the readers and writers before did
 * Threads:      any that does not hold @l
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe; no handler ends the wait
 * Cancellation: not a cancellation point
 * Lifetime:     @l must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_rwlock_wrlock(struct ipcwait_rwlock *l)
{
	if (ipcwait_impl_rwlock_write_fast(l))
		return 0;
	return ipcwait_impl_rwlock_wrlock_slow(l);
}

/**
 * ipcwait_rwlock_trywrlock() - lock for writing if that is possible at once
 * @l: lock, initialised or all-zero
 *
 * Return: 0, the caller writes. Any error: it does not.
 *   -EBUSY   somebody reads or writes, or it is kept for readers or a writer that have waited
 *   -EINVAL  @l is misaligned or finished
 *
 * Ordering:     acquire on 0: sees what the readers and writers before did
 * Threads:      any
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @l must be mapped until the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_rwlock_trywrlock(struct ipcwait_rwlock *l)
{
	if (ipcwait_impl_rwlock_write_fast(l))
		return 0;
	return ipcwait_impl_rwlock_trywrlock_slow(l);
}

/**
 * ipcwait_rwlock_wrunlock() - end a write
 * @l: lock that the caller writes under
 *
 * Return: 0.
 *   -EPERM   nobody writes; it is unchanged
 *   -EINVAL  @l is misaligned or finished
 *
 * Ordering:     release on 0: the next reader or writer sees what came before
 * Threads:      the writer, or on its behalf
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @l is not touched once another thread can have it; a wake system call may still
 *               use its address
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_rwlock_wrunlock(struct ipcwait_rwlock *l)
{
	uint64_t w = IPCWAIT_IMPL_RWLOCK_WRITER;

	/*
	 * ORD rwlock.R2: release on success, to the next reader or writer. Pairs with rwlock.A1,
	 * rwlock.A2, rwlock_wait.A1 and rwlock_wait.A2.
	 */
	if (IPCWAIT_IMPL_FAST(ipcwait_impl_cas64_release(&l->word, &w, 0)))
		return 0;
	return ipcwait_impl_rwlock_wrunlock_slow(l);
}

/**
 * ipcwait_rwlock_unlock() - end a read or a write, whichever it is
 * @l: lock that the caller holds
 *
 * Return: 0.
 *   -EPERM   nobody holds it; it is unchanged
 *   -EINVAL  @l is misaligned or finished
 *
 * Ordering:     release on 0, as ipcwait_rwlock_rdunlock() and ipcwait_rwlock_wrunlock()
 * Threads:      the holder, or on its behalf
 * Processes:    any that map @l, unless IPCWAIT_PRIVATE
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_rwlock_rdunlock() and ipcwait_rwlock_wrunlock()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE int ipcwait_rwlock_unlock(struct ipcwait_rwlock *l)
{
	/* ORD rwlock.X3: relaxed, protected by the caller, who holds it one way or the other. */
	if (ipcwait_impl_load64_relaxed(&l->word) & IPCWAIT_IMPL_RWLOCK_WRITER)
		return ipcwait_rwlock_wrunlock(l);
	return ipcwait_rwlock_rdunlock(l);
}

IPCWAIT_END_DECLS

#endif
