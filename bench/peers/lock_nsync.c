/* SPDX-License-Identifier: MIT */
#include "peer_ops.h"

#include <nsync.h>
#include <stddef.h>

_Static_assert(sizeof(nsync_mu) <= sizeof(struct lock_room), "the room holds the lock");

static void init(void *lock)
{
	nsync_mu_init(lock);
}

static void acquire(void *lock, struct lock_hold *hold)
{
	(void)hold;
	nsync_mu_lock(lock);
}

static void release(void *lock, struct lock_hold *hold)
{
	(void)hold;
	nsync_mu_unlock(lock);
}

const struct lock_ops lock_nsync = { "nsync", init, acquire, release, NULL };
