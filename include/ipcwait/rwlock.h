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
 * cache line around, and are no faster than with a mutex. A reader that meets another one on that
 * line stands aside for 0.5 us, up to 5 us if that goes on. An unlock makes at most one system
 * call, and none for a writer that spins.
 *
 * Guarantees: one writer, or any number of readers. A lock that returns an error has not locked.
 * An unlock touches the lock for the last time before anybody whom it had kept out can have it,
 * so the next writer may unlock, end and free it at once.
 *
 * Neither side starves, and no lock stays idle for one that sleeps and has not waited for long.
 * Readers, and writers that run, may overtake it until it has waited for the longer of 4 ms and
 * 20 B (policy.h). Then it is next: new readers wait behind a writer that is overdue, and when a
 * reader is, all readers who sleep at the next unlock of a writer get in together before any other
 * writer. A writer that is awake again after a sleep goes before those who come. Of several overdue
 * writers one comes after the other, each a quarter of its wait later at the latest.
 *
 * A thread that reads must not ask to read again: behind a writer that is overdue that is a
 * deadlock, as POSIX has it. Nor can a reader become a writer: it waits for itself.
 *
 * Limits: at most IPCWAIT_RWLOCK_READERS_MAX readers. The lock does not know who holds it. 16383
 * sleeping readers and as many writers at a time are woken. A waiter beyond these checks after 1
 * ms, and doubles that time after each check, up to 2n ms when n such waiters sleep in the
 * process. No function is async-signal-safe or a cancellation point, and no signal ends a wait.
 *
 * Death: the lock is not robust. If a process dies that holds it, it stays held for ever. One that
 * dies while it waits, or between an unlock and its wake, holds nobody up for good: those who
 * wait look after 4 ms, then after a quarter of the time they have waited, at last once a second,
 * and put right what it has left. That is 12 ms for a call that comes after the death. A call that
 * only tries notices after 5 ms, unless a writer died behind a reader.
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
 *   bit 14      RWAKE      a wake is on its way to all of these
 *   bits 15-28  WSLEEPERS  writers that have announced a sleep and not yet come back
 *   bit 29      WAKE       a wake is on its way to one of these
 *   bits 30-31  EPOCH      of the two counts; waiters of another one are not in them
 *   bits 32-52  READERS    that hold it
 *   bits 53-56  zero
 *   bit 57      QUIET      a sleeping writer has set an alarm, and wants no wake
 *   bit 58      NEXT       a writer that has slept is looking: who comes lets it go first
 *   bit 59      RURGENT    of sleeping readers one is overdue: with RWAKE, it is their turn, and
 *                          no writer may take it until all have come
 *   bit 60      TIMED      the writer's section is measured: it unlocks out of line
 *   bit 61      URGENT     only a writer that is overdue may take it, or readers in their turn
 *   bit 62      SPINNER    a writer is looking while others sleep
 *   bit 63      WRITER     that holds it
 *
 *   WRITER READERS RWAKE RURGENT WAKE WSLEEPERS RSLEEPERS
 *     0      0      0      0      0       0         0       free          (the all-zero state)
 *     0      n      any    0      any     s         r       n readers; others may join, but not if
 *                                                           URGENT
 *     0      n      0      1      any     s         r       the same
 *     1      0      any    any    any     s         r       a writer
 *     0      n      1      1      any     s         r       the turn of r readers, others may join
 *     0      0      1      0      any     s         r       free, r readers are on their way
 *     0      0      any    0      1       s         r       free, for a writer that is on its way
 *     0      0      any    any    0       s         r       free, for a writer that looks (NEXT, or
 *                                                           SPINNER before), or is to look (QUIET)
 *   RWAKE, RURGENT                                never without RSLEEPERS
 *   WAKE, URGENT                                  never without WSLEEPERS
 *   WRITER with RWAKE and RURGENT                 never
 *   RSLEEPERS without WRITER, RWAKE or URGENT     never
 *   TIMED                                         never without WRITER
 *
 *   n -> n+1                read             any reader      no WRITER; no URGENT, or their turn;
 *                                                            no NEXT, unless it is their turn or
 *                                                            it would sleep. NEXT -> 0
 *   n,r -> n+1,r-1          read             sleeping reader the same; RWAKE, RURGENT -> 0 with the
 *                                                            last
 *   0 -> WRITER             write            any writer      free, and not the readers' turn;
 *                                                            URGENT only if it is overdue, NEXT
 *                                                            as above; TIMED -> 1 for one in
 *                                                            sixteen that had to wait. NEXT -> 0
 *   0,s -> WRITER,s-1       write            sleeping writer WAKE -> 0, its URGENT -> 0, QUIET ->
 *                                                            0 if it is its own or no wake has
 *                                                            ended its sleep
 *   n -> n-1                rdunlock         reader          if free then: leave, see below
 *   WRITER -> 0, RWAKE -> 1 wrunlock         writer          r > 0 and no RWAKE; no URGENT, or
 *                                                            RURGENT; wake all readers; TIMED,
 *                                                            SPINNER -> 0
 *   WRITER -> 0             wrunlock         writer          else; leave, see below; TIMED -> 0
 *   WAKE -> 1               leave            both            s > 0; wake a writer: one that is
 *                                                            overdue if URGENT; else only without
 *                                                            WAKE, SPINNER, NEXT and QUIET
 *   SPINNER -> 0            leave            both            it is relied on once
 *   r -> r+1, or r          announce sleep   reader          RWAKE -> 0; RURGENT -> 1 if it is
 *                                                            overdue
 *   WAKE -> 1               sleep again      reader          kept out by writers: wake one, to
 *                                                            see whether any lives
 *   s -> s+1, or s          announce sleep   writer          WAKE, SPINNER -> 0, but where it is
 *                                                            free; its NEXT -> 0; QUIET as above ->
 *                                                            0, and -> 1 if it naps; URGENT -> 1 if
 *                                                            it is overdue
 *   SPINNER 0 -> 1          look             spinning writer s > 0, no WAKE
 *   NEXT 0 -> 1, WAKE -> 0  look             sleeping writer not free
 *   r -> r-1                give up          expired reader
 *   s -> s-1, WAKE -> 0     give up          expired writer  its URGENT, and QUIET as above -> 0;
 *                                                            RWAKE -> 1 and wake all readers, if
 *                                                            it was the last that kept them out
 *   n,all -> n,0            call the roll    waiter          RWAKE or WAKE for too long; EPOCH ->
 *                                                            +1, and wake all: they announce
 *                                                            themselves anew
 *   n,all -> n,0            forget           waiter          in the copy of a child of fork(2), if
 *                                            or tries, fini  private: before its first
 *
 * The counts may be too large, and each mark may be set for nobody: after a death. Then a free
 * lock lies beside sleepers, or is kept for nobody, until an alarm: each sleep has one, except
 * of overdue readers of a private lock, where nobody dies.
 */
struct ipcwait_rwlock {
	struct ipcwait_word64 word; /* low half: the futex */
	uint32_t flags;             /* as given to init; all ones: finished */
	struct ipcwait_word32
		note; /* what writers have learned; private: who waits on it */
	struct ipcwait_window window; /* what its waits have taught */
};

#define IPCWAIT_IMPL_RWLOCK_READER_ONE (UINT64_C(1) << 32)
#define IPCWAIT_IMPL_RWLOCK_WSLEEPERS  (UINT64_C(0x3fff) << 15)
#define IPCWAIT_IMPL_RWLOCK_WAKE       (UINT64_C(1) << 29)
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

/* n -> n+1 where there is no more to it: no mark is set, and there is room. */
static inline bool ipcwait_impl_rwlock_read_fast(struct ipcwait_rwlock *l)
{
	/* ORD rwlock.X1: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&l->word);

	/*
	 * ORD rwlock.A1: acquire on success, so that the reader sees what the last writer did.
	 * Pairs with rwlock.R2 and rwlock.R3, directly or through the read-modify-writes in
	 * between, which continue their release sequence.
	 */
	return IPCWAIT_IMPL_FAST((w >> 32) < IPCWAIT_RWLOCK_READERS_MAX) &&
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
 *   -EBUSY   a writer holds it, or one is overdue
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
	 * Where no mark is set, and there is no writer to be woken.
	 *
	 * ORD rwlock.R1: release on success, so that what was read was there until now. Pairs
	 * with rwlock.A2 and rwlock_wait.A2.
	 */
	if (IPCWAIT_IMPL_FAST((w >> 32) > 1 || !(w & IPCWAIT_IMPL_RWLOCK_WSLEEPERS) ||
			      w & IPCWAIT_IMPL_RWLOCK_WAKE) &&
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
