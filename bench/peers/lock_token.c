/* SPDX-License-Identifier: MIT */
/*
 * Locks that consist of one token: a semaphore's, or the element of a queue that has one place
 * under a mutex and two condition variables. The thread that takes the token holds the lock. To
 * release the lock it puts the token back. libipcwait's objects, and the C library's.
 */
#include "peer_ops.h"

#include <stdbool.h>
#include <stddef.h>

/* The condition variables of a place. */
#define FILLED  0
#define EMPTIED 1

struct place {
	struct cond_room room;
	bool full; /* under the mutex */
};

_Static_assert(sizeof(struct sem_room) <= sizeof(struct lock_room) &&
		       sizeof(struct place) <= sizeof(struct lock_room),
	       "the room holds the lock");

/* The signal follows the unlock, as in sem_glibc_cond.c. */
static void place_put(struct place *p, const struct cond_ops *ops)
{
	ops->lock(&p->room);
	/* Never true here, because there is one token. A queue's producer has to look. */
	while (p->full)
		ops->wait(&p->room, EMPTIED);
	p->full = true;
	ops->unlock(&p->room);
	ops->signal(&p->room, FILLED);
}

static void place_take(struct place *p, const struct cond_ops *ops)
{
	ops->lock(&p->room);
	while (!p->full)
		ops->wait(&p->room, FILLED);
	p->full = false;
	ops->unlock(&p->room);
	ops->signal(&p->room, EMPTIED);
}

static void place_init(struct place *p, const struct cond_ops *ops)
{
	ops->init(&p->room);
	p->full = false;
	place_put(p, ops);
}

static void init_sem(void *lock)
{
	sem_adaptive.init(lock);
	sem_adaptive.post(lock);
}

static void acquire_sem(void *lock, struct lock_hold *hold)
{
	(void)hold;
	sem_adaptive.wait(lock);
}

static void release_sem(void *lock, struct lock_hold *hold)
{
	(void)hold;
	sem_adaptive.post(lock);
}

static void init_sem_glibc(void *lock)
{
	sem_glibc.init(lock);
	sem_glibc.post(lock);
}

static void acquire_sem_glibc(void *lock, struct lock_hold *hold)
{
	(void)hold;
	sem_glibc.wait(lock);
}

static void release_sem_glibc(void *lock, struct lock_hold *hold)
{
	(void)hold;
	sem_glibc.post(lock);
}

static void end_sem_glibc(void *lock)
{
	sem_glibc.end(lock);
}

static void init_queue(void *lock)
{
	place_init(lock, &cond_ipcwait);
}

static void acquire_queue(void *lock, struct lock_hold *hold)
{
	(void)hold;
	place_take(lock, &cond_ipcwait);
}

static void release_queue(void *lock, struct lock_hold *hold)
{
	(void)hold;
	place_put(lock, &cond_ipcwait);
}

static void end_queue(void *lock)
{
	struct place *p = lock;

	cond_ipcwait.end(&p->room);
}

static void init_queue_glibc(void *lock)
{
	place_init(lock, &cond_glibc);
}

static void acquire_queue_glibc(void *lock, struct lock_hold *hold)
{
	(void)hold;
	place_take(lock, &cond_glibc);
}

static void release_queue_glibc(void *lock, struct lock_hold *hold)
{
	(void)hold;
	place_put(lock, &cond_glibc);
}

static void end_queue_glibc(void *lock)
{
	struct place *p = lock;

	cond_glibc.end(&p->room);
}

const struct lock_ops lock_ipcwait_sem = { "ipcwait-sem", init_sem, acquire_sem,
					   release_sem, NULL };
const struct lock_ops lock_glibc_sem = { "glibc-sem", init_sem_glibc, acquire_sem_glibc,
					 release_sem_glibc, end_sem_glibc };
const struct lock_ops lock_ipcwait_queue = { "ipcwait-queue", init_queue, acquire_queue,
					     release_queue, end_queue };
const struct lock_ops lock_glibc_queue = { "glibc-queue", init_queue_glibc,
					   acquire_queue_glibc, release_queue_glibc,
					   end_queue_glibc };
