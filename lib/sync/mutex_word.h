/* SPDX-License-Identifier: MIT */
/* The mutex's word for the files that share it. The table is in <ipcwait/mutex.h>. */
#ifndef IW_SYNC_MUTEX_WORD_H
#define IW_SYNC_MUTEX_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/mutex.h>

#include "watch/misuse.h"

#define MUTEX_SLEEPERS_MASK UINT64_C(0xffff)
#define MUTEX_WAKE          (UINT64_C(1) << 16)
#define MUTEX_OWNER_SHIFT   32
#define MUTEX_OWNER_MASK    (UINT64_C(0x3fffff) << MUTEX_OWNER_SHIFT)
#define MUTEX_URGENT        (UINT64_C(1) << 54)
#define MUTEX_DIED          (UINT64_C(1) << 55)
#define MUTEX_LOST          (UINT64_C(1) << 56)
#define MUTEX_QUIET         (UINT64_C(1) << 57)
#define MUTEX_PASS_ONE      (UINT64_C(1) << 58)
#define MUTEX_PASSES_MASK   (UINT64_C(7) << 58)
#define MUTEX_CHECKED       IPCWAIT_IMPL_MUTEX_CHECKED
#define MUTEX_SPINNER       (UINT64_C(1) << 63)

/* Classes of sleepers. */
#define MUTEX_BITS_PATIENT 1u
#define MUTEX_BITS_OVERDUE 2u
#define MUTEX_BITS_ALL     (MUTEX_BITS_PATIENT | MUTEX_BITS_OVERDUE)

#define MUTEX_KINDS    (IPCWAIT_RECURSIVE | IPCWAIT_ERRORCHECK | IPCWAIT_ROBUST)
#define MUTEX_FINISHED UINT16_MAX

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
	return (uintptr_t)m % 8 == 0 && m->flags != MUTEX_FINISHED;
}

/*
 * Wait for the mutex and own it as @owner, which is in its place in the word. Results as of
 * ipcwait_mutex_lock_until(); -EOWNERDEAD is a success.
 */
int iw_mutex_wait(struct ipcwait_mutex *m, uint64_t owner, int64_t deadline_ns);

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

int iw_mutex_lock_known(struct ipcwait_mutex *m, int64_t deadline_ns);
int iw_mutex_trylock_known(struct ipcwait_mutex *m);
int iw_mutex_unlock_known(struct ipcwait_mutex *m);

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
