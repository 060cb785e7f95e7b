/* SPDX-License-Identifier: MIT */
/*
 * Two of ck's spin locks: the one that is taken by exchange, and the queue lock in which each
 * waits at a place of its own and is served in order.
 */
#include "peer_ops.h"

#include <ck_spinlock.h>
#include <stddef.h>

_Static_assert(sizeof(ck_spinlock_fas_t) <= sizeof(struct lock_room) &&
		       sizeof(ck_spinlock_mcs_t) <= sizeof(struct lock_room),
	       "the room holds the lock");
_Static_assert(sizeof(ck_spinlock_mcs_context_t) <= sizeof(struct lock_hold),
	       "the hold holds the node of the queue");

static void fas_init(void *lock)
{
	ck_spinlock_fas_init(lock);
}

static void fas_acquire(void *lock, struct lock_hold *hold)
{
	(void)hold;
	ck_spinlock_fas_lock(lock);
}

static void fas_release(void *lock, struct lock_hold *hold)
{
	(void)hold;
	ck_spinlock_fas_unlock(lock);
}

static void mcs_init(void *lock)
{
	ck_spinlock_mcs_init(lock);
}

static void mcs_acquire(void *lock, struct lock_hold *hold)
{
	ck_spinlock_mcs_lock(lock, (void *)hold);
}

static void mcs_release(void *lock, struct lock_hold *hold)
{
	ck_spinlock_mcs_unlock(lock, (void *)hold);
}

const struct lock_ops lock_ck_fas = { "ck-fas", fas_init, fas_acquire, fas_release, NULL };
const struct lock_ops lock_ck_mcs = { "ck-mcs", mcs_init, mcs_acquire, mcs_release, NULL };
