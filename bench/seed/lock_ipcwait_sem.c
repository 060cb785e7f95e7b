/* SPDX-License-Identifier: MIT */
#include "recycle.h"
#include "../peers/sem_peer.h"

#include <stddef.h>

_Static_assert(sizeof(struct sem_room) <= sizeof(struct lock_room),
	       "the room holds the semaphore");

static void init(void *lock)
{
	sem_adaptive.init(lock);
	sem_adaptive.post(lock);
}

static void acquire(void *lock, struct lock_hold *hold)
{
	(void)hold;
	sem_adaptive.wait(lock);
}

static void release(void *lock, struct lock_hold *hold)
{
	(void)hold;
	sem_adaptive.post(lock);
}

const struct lock_ops lock_ipcwait_sem = { "ipcwait_sem", init, acquire, release, NULL };
