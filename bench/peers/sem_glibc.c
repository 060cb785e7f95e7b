/* SPDX-License-Identifier: MIT */
/* The C library's sem_t, which sleeps at once. */
#include "sem_peer.h"
#include "../../tools/common/complain.h"

#include <errno.h>
#include <semaphore.h>
#include <stddef.h>

_Static_assert(sizeof(sem_t) <= sizeof(struct sem_room), "the room holds the semaphore");

static void init(void *sem)
{
	if (sem_init(sem, 0, 0))
		give_up("cannot make a semaphore");
}

static void init_shared(void *sem)
{
	if (sem_init(sem, 1, 0))
		give_up("cannot make a semaphore");
}

static void wait(void *sem)
{
	while (sem_wait(sem))
		if (errno != EINTR)
			give_up("sem_wait() failed");
}

static void post(void *sem)
{
	sem_post(sem);
}

static void end(void *sem)
{
	sem_destroy(sem);
}

const struct sem_ops sem_glibc = { "glibc", init, wait, post, end };
const struct sem_ops sem_glibc_shared = { "glibc", init_shared, wait, post, end };
