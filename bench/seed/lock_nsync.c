/* SPDX-License-Identifier: MIT */
#include "recycle.h"

#include <nsync.h>

static void init(void *lock)
{
	nsync_mu_init(lock);
}

static void take(void *lock)
{
	nsync_mu_lock(lock);
}

static void release(void *lock)
{
	nsync_mu_unlock(lock);
}

const struct lock_ops lock_nsync = {
	.name = "nsync",
	.init = init,
	.lock = take,
	.unlock = release,
};
