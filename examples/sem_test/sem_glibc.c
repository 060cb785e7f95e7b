/* SPDX-License-Identifier: MIT */
/*
 * The C library's semaphore.
 */
#include "rows.h"

#include <errno.h>
#include <semaphore.h>
#include <stddef.h>

_Static_assert(sizeof(sem_t) <= sizeof(struct sem_room), "the room holds the semaphore");

static int init(void *sem, unsigned value, bool shared)
{
	return sem_init(sem, shared, value) ? -errno : 0;
}

static int wait(void *sem)
{
	while (sem_wait(sem))
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int post(void *sem)
{
	return sem_post(sem) ? -errno : 0;
}

static int value(void *sem)
{
	int v = 0;

	return sem_getvalue(sem, &v) ? -errno : v;
}

static void fini(void *sem)
{
	sem_destroy(sem);
}

static int pairs(void *sem, uint64_t n)
{
	while (n--)
		if (sem_post(sem) || sem_wait(sem))
			return -errno;
	return 0;
}

const struct sem_ops sem_glibc = { init, wait, post, value, fini, pairs, NULL };
