/* SPDX-License-Identifier: MIT */
/*
 * libipcwait's semaphore, as it is, told never to spin, and by the rules of two kernels.
 */
#include "rows.h"

#include <ipcwait/sem.h>

_Static_assert(sizeof(struct ipcwait_sem) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static int init(void *sem, unsigned value, bool shared)
{
	return ipcwait_sem_init(sem, value, shared ? 0 : IPCWAIT_PRIVATE);
}

static int init_preset(struct ipcwait_sem *s, unsigned value, bool shared,
		       enum ipcwait_preset preset)
{
	int r = init(s, value, shared);

	return r ? r : ipcwait_window_set_preset(&s->window, preset);
}

static int init_block(void *sem, unsigned value, bool shared)
{
	return init_preset(sem, value, shared, IPCWAIT_BLOCK);
}

static int init_haltpoll(void *sem, unsigned value, bool shared)
{
	return init_preset(sem, value, shared, IPCWAIT_HALTPOLL);
}

static int init_ticks(void *sem, unsigned value, bool shared)
{
	return init_preset(sem, value, shared, IPCWAIT_TICKS);
}

static int wait(void *sem)
{
	return ipcwait_sem_wait(sem);
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
	ipcwait_sem_fini(sem);
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

static const struct ipcwait_window *window(const void *sem)
{
	return &((const struct ipcwait_sem *)sem)->window;
}

const struct sem_ops sem_ipcwait = { init, wait, post, value, fini, pairs, window };
const struct sem_ops sem_block = { init_block, wait, post, value, fini, pairs, window };
const struct sem_ops sem_haltpoll = {
	init_haltpoll, wait, post, value, fini, pairs, window
};
const struct sem_ops sem_ticks = { init_ticks, wait, post, value, fini, pairs, window };
