/* SPDX-License-Identifier: MIT */
/*
 * A lock for what lib/os keeps itself. Not libc's mutex: pthread_mutex_lock() may be a function of
 * the program's, or of the preload module's, which waits by this library. It is no cancellation
 * point, and a child of fork(2) may release what its parent's thread has locked.
 */
#ifndef IW_OS_OWN_LOCK_H
#define IW_OS_OWN_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/impl/word.h>

#include "os/futex.h"

/* All zero: free. */
struct iw_own_lock {
	struct ipcwait_word32 word;
};

/* Values of the word. */
#define IW_OWN_FREE  0u
#define IW_OWN_HELD  1u
#define IW_OWN_SLEPT 2u /* held, and a thread may sleep */

static inline void iw_own_lock(struct iw_own_lock *l)
{
	uint32_t word = IW_OWN_FREE, taken = IW_OWN_HELD;

	/* ORD own_lock.A1: acquire on success. Pairs with own_lock.R1 and own_lock.R2. */
	while (!ipcwait_impl_cas32_acquire(&l->word, &word, taken)) {
		/* ORD own_lock.X1: relaxed, re-checked: the kernel compares the word too. */
		if (word == IW_OWN_SLEPT ||
		    ipcwait_impl_cas32_relaxed(&l->word, &word, IW_OWN_SLEPT))
			(void)iw_futex_wait((const uint32_t *)&l->word, IW_OWN_SLEPT,
					    INT64_MAX, true);
		word = IW_OWN_FREE;
		taken = IW_OWN_SLEPT;
	}
}

/* False: another thread has it. */
static inline bool iw_own_try_lock(struct iw_own_lock *l)
{
	uint32_t word = IW_OWN_FREE;

	/* ORD own_lock.A2: acquire on success. Pairs with own_lock.R1 and own_lock.R2. */
	return ipcwait_impl_cas32_acquire(&l->word, &word, IW_OWN_HELD);
}

static inline void iw_own_unlock(struct iw_own_lock *l)
{
	/* ORD own_lock.R1: release, to the next owner. Pairs with own_lock.A1 and own_lock.A2. */
	if (ipcwait_impl_add32_release(&l->word, (uint32_t)-1) == IW_OWN_HELD)
		return;
	/* ORD own_lock.R2: release, as own_lock.R1. Pairs with own_lock.A1 and own_lock.A2. */
	ipcwait_impl_store32_release(&l->word, IW_OWN_FREE);
	(void)iw_futex_wake((const uint32_t *)&l->word, 1, true);
}

#endif
