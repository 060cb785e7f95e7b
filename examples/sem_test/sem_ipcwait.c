/* SPDX-License-Identifier: MIT */
/*
 * libipcwait's semaphore, as it is and told never to spin.
 */
#include "rows.h"

#include <errno.h>
#include <ipcwait/sem.h>

_Static_assert(sizeof(struct ipcwait_sem) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static int init(void *sem, unsigned value, bool shared)
{
	return ipcwait_sem_init(sem, value, shared ? 0 : IPCWAIT_PRIVATE);
}

static int init_block(void *sem, unsigned value, bool shared)
{
	struct ipcwait_sem *s = sem;
	int r = init(s, value, shared);

	return r ? r : ipcwait_window_set_preset(&s->window, IPCWAIT_BLOCK);
}

static int wait(void *sem)
{
	int r;

	do
		r = ipcwait_sem_wait(sem);
	while (r == -EINTR);
	return r;
}

static int post(void *sem)
{
	return ipcwait_sem_post(sem);
}

static int value(void *sem)
{
	return ipcwait_sem_value(sem);
}

static void fini(void *sem)
{
	(void)ipcwait_sem_fini(sem);
}

static int pairs(void *sem, uint64_t n)
{
	while (n--) {
		int r = ipcwait_sem_post(sem);

		if (!r)
			r = ipcwait_sem_wait(sem);
		if (r)
			return r;
	}
	return 0;
}

const struct sem_ops sem_ipcwait = { init, wait, post, value, fini, pairs };
const struct sem_ops sem_block = { init_block, wait, post, value, fini, pairs };
