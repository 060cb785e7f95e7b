/* SPDX-License-Identifier: MIT */
/* The mutex's word for the files that share it. The table is in <ipcwait/mutex.h>. */
#ifndef IW_SYNC_MUTEX_WORD_H
#define IW_SYNC_MUTEX_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/mutex.h>

#include "sync/object.h"

#define MUTEX_SLEEPERS_MASK UINT64_C(0xffff)
#define MUTEX_WAKE          (UINT64_C(1) << 16)
#define MUTEX_PROCESS_SHIFT 17
#define MUTEX_PROCESS_MASK  (UINT64_C(0x7fff) << MUTEX_PROCESS_SHIFT)
#define MUTEX_OWNER_SHIFT   32
#define MUTEX_OWNER_MASK    (UINT64_C(0x3fffff) << MUTEX_OWNER_SHIFT)
#define MUTEX_URGENT        (UINT64_C(1) << 54)
#define MUTEX_DIED          (UINT64_C(1) << 55)
#define MUTEX_LOST          (UINT64_C(1) << 56)
#define MUTEX_QUIET         (UINT64_C(1) << 57)
#define MUTEX_PASS_ONE      (UINT64_C(1) << 58)
#define MUTEX_PASSES_MASK   (UINT64_C(7) << 58)
#define MUTEX_TIMED         (UINT64_C(1) << 61)
#define MUTEX_CHECKED       IPCWAIT_IMPL_MUTEX_CHECKED
#define MUTEX_SPINNER       (UINT64_C(1) << 63)

/* Classes of sleepers. */
#define MUTEX_BITS_PATIENT 1u
#define MUTEX_BITS_OVERDUE 2u
#define MUTEX_BITS_ALL     (MUTEX_BITS_PATIENT | MUTEX_BITS_OVERDUE)

#define MUTEX_KINDS (IPCWAIT_RECURSIVE | IPCWAIT_ERRORCHECK | IPCWAIT_ROBUST)

static const struct iw_layout mutex_layout = {
	.kind = IPCWAIT_KIND_MUTEX,
	.known_flags = IPCWAIT_PRIVATE | MUTEX_KINDS,
	.flags = offsetof(struct ipcwait_mutex, flags),
	.flags_bytes = 2,
};

static inline uint64_t mutex_sleepers(uint64_t w)
{
	return w & MUTEX_SLEEPERS_MASK;
}

static inline uint32_t mutex_owner(uint64_t w)
{
	return (uint32_t)((w & MUTEX_OWNER_MASK) >> MUTEX_OWNER_SHIFT);
}

static inline bool mutex_usable(const struct ipcwait_mutex *m)
{
	return !iw_is_misplaced(m) && !iw_is_unusable(&mutex_layout, m);
}

/* The word with @owner, a thread and its process in their places; it was free. */
static inline uint64_t mutex_owned(uint64_t w, uint64_t owner)
{
	return (w & ~MUTEX_PROCESS_MASK) | owner;
}

/*
 * Wait for the mutex and own it as @owner, which is in its place in the word. Results as of
 * ipcwait_mutex_lock_until(); -EOWNERDEAD is a success.
 */
int iw_mutex_wait(struct ipcwait_mutex *m, uint64_t owner, int64_t deadline_ns,
		  uintptr_t site);

/* ipcwait_mutex_lock() for a call of the program's at @site. */
int iw_mutex_lock_from(struct ipcwait_mutex *m, uintptr_t site);

/* Own it as @owner if that is possible at once, else -EBUSY. Also as above. */
int iw_mutex_try(struct ipcwait_mutex *m, uint64_t owner);

/*
 * The owner leaves: wake whom that needs. @lost: for good, and everybody is woken. The mutex is
 * touched no more once another may own it. Returns 0, -EPERM if nobody owns it.
 */
int iw_mutex_leave(struct ipcwait_mutex *m, bool lost);

/* In a checked build every mutex knows its owner. */
static inline bool mutex_is_known(const struct ipcwait_mutex *m)
{
	return IW_IS_CHECKED || m->flags & MUTEX_KINDS;
}

int iw_mutex_lock_known(struct ipcwait_mutex *m, int64_t deadline_ns, uintptr_t site);
int iw_mutex_trylock_known(struct ipcwait_mutex *m);
int iw_mutex_unlock_known(struct ipcwait_mutex *m);

/*
 * What it has learned, policy/pace.h. Only owners write it. Robust ones need the place for the
 * owner's birth, and learn nothing.
 */
static inline bool mutex_learns(const struct ipcwait_mutex *m)
{
	return !(m->flags & IPCWAIT_ROBUST);
}

static inline uint32_t mutex_pace(const struct ipcwait_mutex *m)
{
	/* ORD mutex_word.X1: relaxed, statistic: any value is a legal one. */
	return mutex_learns(m) ? ipcwait_impl_load32_relaxed(&m->note) : 0;
}

static inline void mutex_set_pace(struct ipcwait_mutex *m, uint32_t pace)
{
	/* ORD mutex_word.X2: relaxed, statistic. */
	ipcwait_impl_store32_relaxed(&m->note, pace);
}

/* Why a waiter doubts that the owner lives. All zero at first. */
struct mutex_doubt {
	uint32_t owner, birth;
	uint32_t proofs; /* of the death of this owner */
};

/* Robust: make the mutex free if its owner is dead for certain. */
void iw_mutex_bury(struct ipcwait_mutex *m, struct mutex_doubt *doubt);

/* The part of init that is for robust ones: -ENOTSUP where a death could not be proven. */
int iw_mutex_init_robust(struct ipcwait_mutex *m);

#endif
