/* SPDX-License-Identifier: MIT */
/*
 * The C library's mutex, which sleeps at once, and its type that first spins for as long as it
 * has learned. What lock and unlock return is not looked at: for these types there is nothing
 * to fail, and nobody's program looks.
 */
#include "peer_ops.h"
#include "../../tools/common/complain.h"

#include <pthread.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct lock_room),
	       "the room holds the lock");

static void init_type(pthread_mutex_t *mutex, int type)
{
	pthread_mutexattr_t attr;

	if (pthread_mutexattr_init(&attr) || pthread_mutexattr_settype(&attr, type) ||
	    pthread_mutex_init(mutex, &attr))
		give_up("cannot make a mutex");
	pthread_mutexattr_destroy(&attr);
}

static void init(void *lock)
{
	init_type(lock, PTHREAD_MUTEX_NORMAL);
}

static void init_adaptive(void *lock)
{
	init_type(lock, PTHREAD_MUTEX_ADAPTIVE_NP);
}

static void acquire(void *lock, struct lock_hold *hold)
{
	(void)hold;
	pthread_mutex_lock(lock);
}

static void release(void *lock, struct lock_hold *hold)
{
	(void)hold;
	pthread_mutex_unlock(lock);
}

static void end(void *lock)
{
	pthread_mutex_destroy(lock);
}

const struct lock_ops lock_glibc = { "glibc", init, acquire, release, end };
const struct lock_ops lock_glibc_adaptive = { "glibc-adaptive", init_adaptive, acquire,
					      release, end };
