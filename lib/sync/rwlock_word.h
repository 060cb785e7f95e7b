/* SPDX-License-Identifier: MIT */
/* The reader-writer lock's word for the files that share it. The table is in <ipcwait/rwlock.h>. */
#ifndef IW_SYNC_RWLOCK_WORD_H
#define IW_SYNC_RWLOCK_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/rwlock.h>

#include "sync/object.h"

#define RWLOCK_RSLEEPER_ONE   UINT64_C(1)
#define RWLOCK_RSLEEPERS_MASK UINT64_C(0x3fff)
#define RWLOCK_RWAKE          (UINT64_C(1) << 14)
#define RWLOCK_WSLEEPER_ONE   (UINT64_C(1) << 15)
#define RWLOCK_WSLEEPERS_MASK IPCWAIT_IMPL_RWLOCK_WSLEEPERS
#define RWLOCK_WAKE           IPCWAIT_IMPL_RWLOCK_WAKE
#define RWLOCK_EPOCH_ONE      (UINT64_C(1) << 30)
#define RWLOCK_EPOCH_MASK     (UINT64_C(3) << 30)
#define RWLOCK_READER_ONE     IPCWAIT_IMPL_RWLOCK_READER_ONE
#define RWLOCK_READERS_MASK   (RWLOCK_READER_ONE * IPCWAIT_RWLOCK_READERS_MAX)
#define RWLOCK_QUIET          (UINT64_C(1) << 57)
#define RWLOCK_NEXT           (UINT64_C(1) << 58)
#define RWLOCK_RURGENT        (UINT64_C(1) << 59)
#define RWLOCK_TIMED          (UINT64_C(1) << 60)
#define RWLOCK_URGENT         (UINT64_C(1) << 61)
#define RWLOCK_SPINNER        (UINT64_C(1) << 62)
#define RWLOCK_WRITER         IPCWAIT_IMPL_RWLOCK_WRITER

/* A writer will look by itself, so an unlock wakes none, except one that is overdue. */
#define RWLOCK_NO_WAKE (RWLOCK_WAKE | RWLOCK_SPINNER | RWLOCK_NEXT | RWLOCK_QUIET)

/* Classes of sleepers. */
#define RWLOCK_BITS_READER  1u
#define RWLOCK_BITS_WRITER  2u
#define RWLOCK_BITS_OVERDUE 4u
#define RWLOCK_BITS_ALL     7u

/*
 * The note has what writers have learned, policy/pace.h. A lock learns no BUSY: there it has which
 * process its waiters are of, sync/copy.h.
 */
#define RWLOCK_NOTE_GENERATION UINT32_C(0x7c0)
#define RWLOCK_NOTE_LEARNED    UINT32_C(0xfffff03f)

static const struct iw_layout rwlock_layout = {
	.kind = IPCWAIT_KIND_RWLOCK,
	.known_flags = IPCWAIT_PRIVATE,
	.flags = offsetof(struct ipcwait_rwlock, flags),
	.flags_bytes = 4,
	.note = offsetof(struct ipcwait_rwlock, note),
	.generation = RWLOCK_NOTE_GENERATION,
	.lasting = RWLOCK_WRITER | RWLOCK_TIMED | RWLOCK_READERS_MASK | RWLOCK_EPOCH_MASK,
};

/* Readers, of whom one was overdue, are on their way: the lock is theirs until all have come. */
static inline bool rwlock_is_readers_turn(uint64_t w)
{
	return w & RWLOCK_RWAKE && w & RWLOCK_RURGENT;
}

/* Nobody holds it, and it is not the readers' turn. */
static inline bool rwlock_is_free(uint64_t w)
{
	return !(w & (RWLOCK_WRITER | RWLOCK_READERS_MASK)) && !rwlock_is_readers_turn(w);
}

static inline bool rwlock_lets_readers_in(uint64_t w)
{
	return !(w & RWLOCK_WRITER) && (!(w & RWLOCK_URGENT) || rwlock_is_readers_turn(w));
}

/* One thread in one wait. */
struct rwlock_waiter {
	struct iw_waiter base;
	struct ipcwait_rwlock *lock;
	uint64_t timed;   /* TIMED, if the section of this writer is to be measured */
	uint64_t epoch;   /* of the count it is in, if sleeper */
	int64_t began_at; /* when it first went to sleep; 0: not yet */
	int64_t until_ns; /* when the alarm of its sleep rings */
	bool rang;        /* the alarm did, in its last sleep */
	bool sleeper;     /* announced */
	bool overdue;     /* has waited for longer than it should */

	/* A writer, and what it has set. */
	bool spinner; /* SPINNER */
	bool next;    /* NEXT */
	bool naps;    /* QUIET */

	int result; /* of what was taken: 0, or -EAGAIN if there was no room */
};

/*
 * Only writers learn, one at a time. A checked build needs the place for its owner, and learns
 * nothing.
 */
static inline uint32_t rwlock_pace(const struct ipcwait_rwlock *l)
{
	/* ORD rwlock_word.X1: relaxed, statistic: any value is a legal one. */
	return IW_IS_CHECKED ? 0
			     : ipcwait_impl_load32_relaxed(&l->note) & RWLOCK_NOTE_LEARNED;
}

static inline void rwlock_set_pace(struct ipcwait_rwlock *l, uint32_t pace)
{
	/* ORD rwlock_word.X2: relaxed, re-checked by the CAS below. */
	uint32_t note = ipcwait_impl_load32_relaxed(&l->note);

	/* ORD rwlock_word.X3: relaxed, statistic. */
	while (!IW_IS_CHECKED &&
	       !ipcwait_impl_cas32_relaxed(&l->note, &note,
					   (note & ~RWLOCK_NOTE_LEARNED) | pace))
		continue;
}

/* Takes the lock, for reading or writing, if it is to be had at once and nobody goes first. */
bool iw_rwlock_take(struct rwlock_waiter *me);

/*
 * The two kinds of waiters. withdraw() of one that has published nothing takes the lock if it can
 * be had at once.
 */
extern const struct iw_waitable iw_rwlock_reader, iw_rwlock_writer;

/* If the wakes under way are stale, those whom they are for may be dead: start counting anew. */
bool iw_rwlock_doubt(struct rwlock_waiter *me, uint64_t w);

#endif
