/* SPDX-License-Identifier: MIT */
/*
 * What the calling thread has to do at the unlock of a lock that it has.
 *
 * Signals and broadcasts by a thread that has the waiters' mutex: who sleeps is woken after the
 * unlock. Woken before, it would find the mutex locked, sleep once more and be woken once more; on
 * a shared CPU the kernel runs it at once, and switches back. docs/design/preload.md
 *
 * Sections: one in some is measured, sections.h.
 */
#ifndef IW_PRELOAD_AFTER_UNLOCK_H
#define IW_PRELOAD_AFTER_UNLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/base.h>

#include "engine/wake.h"
#include "place.h"
#include "policy/hash.h"

#define IW_HELD_BITS 6

/* A mutex by address, or NULL. Of two that share a place the one that came last is in it. */
struct iw_held {
	const pthread_mutex_t *now;    /* the thread has locked it, and not unlocked it */
	const pthread_mutex_t *before; /* the last that it has locked and unlocked */
};

/* Of one thread. */
struct iw_after_unlock {
	struct iw_held held[1u << IW_HELD_BITS];

	/*
	 * The mutex with which it has given a signal, or the lock whose section is measured, until
	 * that is unlocked; else NULL.
	 */
	const void *lock;
	const pthread_cond_t *cond;
	struct iw_due_wake due;
	struct place *measured; /* its section is; NULL: none is */
};

extern _Thread_local struct iw_after_unlock iw_after_unlock
	__attribute__((tls_model("initial-exec")));

static inline struct iw_held *iw_held_at(const pthread_mutex_t *m)
{
	return &iw_after_unlock.held[iw_hash((uintptr_t)m) >> (64 - IW_HELD_BITS)];
}

/* The caller has locked @m through this module, or is about to unlock it through this module. */
static inline void iw_note_locked(const pthread_mutex_t *m)
{
	iw_held_at(m)->now = m;
}

static inline void iw_note_unlocked(const pthread_mutex_t *m)
{
	struct iw_held *held = iw_held_at(m);

	held->before = held->now;
	held->now = NULL;
}

static inline bool iw_is_noted_locked(const pthread_mutex_t *m)
{
	return iw_held_at(m)->now == m;
}

/* The caller owns @m, and begins to wait on @c with it. */
void iw_after_unlock_note(const pthread_cond_t *c, const pthread_mutex_t *m);

/*
 * Before a signal or broadcast on @c: where its wake is to be left, or NULL if it is to be made at
 * once.
 */
struct iw_due_wake *iw_after_unlock_begin(const pthread_cond_t *c);

/*
 * The caller has locked @lock, a mutex or a reader-writer lock, whose place is @p: the length of
 * the section is to be learned. False if a wake is due after another unlock.
 */
bool iw_after_unlock_measure(const void *lock, struct place *p);

/* The calling thread has unlocked iw_after_unlock.lock. */
void iw_after_unlock_end(void);

/* The calling thread may not come to an unlock for long: it is about to wait. */
void iw_after_unlock_hurry(void);

#endif
