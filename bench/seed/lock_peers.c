/* SPDX-License-Identifier: MIT */
/* glibc's mutex, and libipcwait's semaphore with one token in the place of its mutex to come. */
#include "recycle.h"
#include "../common/complain.h"

#include <errno.h>
#include <ipcwait/sem.h>
#include <pthread.h>

static void glibc_init(void *lock)
{
	pthread_mutex_init(lock, NULL);
}

static void glibc_lock(void *lock)
{
	pthread_mutex_lock(lock);
}

static void glibc_unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

const struct lock_ops lock_glibc = {
	.name = "glibc",
	.init = glibc_init,
	.lock = glibc_lock,
	.unlock = glibc_unlock,
};

static void sem_init_one(void *lock)
{
	if (ipcwait_sem_init(lock, 1, IPCWAIT_PRIVATE))
		give_up("cannot make a semaphore");
}

static void sem_lock(void *lock)
{
	int r;

	do
		r = ipcwait_sem_wait(lock);
	while (r == -EINTR);
	if (r)
		give_up("ipcwait_sem_wait() returned %d", r);
}

static void sem_unlock(void *lock)
{
	if (ipcwait_sem_post(lock))
		give_up("ipcwait_sem_post() failed");
}

const struct lock_ops lock_ipcwait_sem = {
	.name = "ipcwait_sem",
	.init = sem_init_one,
	.lock = sem_lock,
	.unlock = sem_unlock,
};

#ifndef HAVE_NSYNC
const struct lock_ops lock_nsync = { .name = "nsync",
				     .missing = "not built: libnsync-dev" };
#endif
