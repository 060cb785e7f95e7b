/* SPDX-License-Identifier: MIT */
/* Reader-writer locks: libipcwait's, and the C library's. As a lock_peer everybody writes. */
#include "peer_ops.h"
#include "../../tools/common/complain.h"

#include <ipcwait/rwlock.h>
#include <pthread.h>

_Static_assert(sizeof(struct ipcwait_rwlock) <= sizeof(struct lock_room) &&
		       sizeof(pthread_rwlock_t) <= sizeof(struct lock_room),
	       "the room holds the lock");

static void init(void *lock)
{
	if (ipcwait_rwlock_init(lock, IPCWAIT_PRIVATE))
		give_up("cannot make a reader-writer lock");
}

static void acquire(void *lock, struct lock_hold *hold)
{
	(void)hold;
	if (ipcwait_rwlock_wrlock(lock))
		give_up("cannot lock");
}

static void release(void *lock, struct lock_hold *hold)
{
	(void)hold;
	ipcwait_rwlock_wrunlock(lock);
}

static void read_lock(void *lock)
{
	if (ipcwait_rwlock_rdlock(lock))
		give_up("cannot lock");
}

static void write_lock(void *lock)
{
	acquire(lock, NULL);
}

static void unlock(void *lock)
{
	ipcwait_rwlock_unlock(lock);
}

static void init_glibc(void *lock)
{
	if (pthread_rwlock_init(lock, NULL))
		give_up("cannot make a reader-writer lock");
}

static void acquire_glibc(void *lock, struct lock_hold *hold)
{
	(void)hold;
	pthread_rwlock_wrlock(lock);
}

static void release_glibc(void *lock, struct lock_hold *hold)
{
	(void)hold;
	pthread_rwlock_unlock(lock);
}

static void read_lock_glibc(void *lock)
{
	if (pthread_rwlock_rdlock(lock))
		give_up("cannot lock");
}

static void write_lock_glibc(void *lock)
{
	acquire_glibc(lock, NULL);
}

static void unlock_glibc(void *lock)
{
	release_glibc(lock, NULL);
}

static void end_glibc(void *lock)
{
	pthread_rwlock_destroy(lock);
}

const struct lock_ops lock_ipcwait_rwlock = { "ipcwait-rwlock", init, acquire, release,
					      NULL };
const struct lock_ops lock_glibc_rwlock = { "glibc-rwlock", init_glibc, acquire_glibc,
					    release_glibc, end_glibc };
const struct rwlock_ops rwlock_ipcwait = { "ipcwait",  init,   read_lock,
					   write_lock, unlock, NULL };
const struct rwlock_ops rwlock_glibc = { "glibc",          init_glibc,   read_lock_glibc,
					 write_lock_glibc, unlock_glibc, end_glibc };
