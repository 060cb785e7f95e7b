/* SPDX-License-Identifier: MIT */
#include "peer_ops.h"
#include "../../tools/common/complain.h"

#include <ipcwait/mutex.h>
#include <stddef.h>

_Static_assert(sizeof(struct ipcwait_mutex) <= sizeof(struct lock_room),
	       "the room holds the lock");

static void init(void *lock)
{
	if (ipcwait_mutex_init(lock, IPCWAIT_PRIVATE))
		give_up("cannot make a mutex");
}

static void acquire(void *lock, struct lock_hold *hold)
{
	(void)hold;
	if (ipcwait_mutex_lock(lock))
		give_up("cannot lock");
}

static void release(void *lock, struct lock_hold *hold)
{
	(void)hold;
	ipcwait_mutex_unlock(lock);
}

const struct lock_ops lock_ipcwait = { "ipcwait", init, acquire, release, NULL };
