/* SPDX-License-Identifier: MIT */
/* Locks that are not held, or held already. */
#include <pthread.h>

#include "common/check.h"
#include "kinds.h"
#include "misuse.h"

static struct ipcwait_rwlock rwlock;

static void rdunlock_free(void)
{
	(void)ipcwait_rwlock_rdunlock(&rwlock);
}

static void wrunlock_free(void)
{
	(void)ipcwait_rwlock_wrunlock(&rwlock);
}

static void rdunlock_written(void)
{
	CHECK_EQ(ipcwait_rwlock_wrlock(&rwlock), 0);
	(void)ipcwait_rwlock_rdunlock(&rwlock);
}

static void wrunlock_read(void)
{
	CHECK_EQ(ipcwait_rwlock_rdlock(&rwlock), 0);
	(void)ipcwait_rwlock_wrunlock(&rwlock);
}

static struct ipcwait_rwlock *finished(void)
{
	CHECK_EQ(ipcwait_rwlock_fini(&rwlock), 0);
	return &rwlock;
}

static void rdlock_finished(void)
{
	(void)!ipcwait_rwlock_rdlock(finished());
}

static void wrlock_finished(void)
{
	(void)!ipcwait_rwlock_wrlock(finished());
}

static void tryrdlock_finished(void)
{
	(void)!ipcwait_rwlock_tryrdlock(finished());
}

static void trywrlock_finished(void)
{
	(void)!ipcwait_rwlock_trywrlock(finished());
}

const struct misuse misuse_of_rwlock[] = {
	{ rdunlock_free, "rwlock", "ipcwait_rwlock_rdunlock", "nobody reads\n" },
	{ wrunlock_free, "rwlock", "ipcwait_rwlock_wrunlock", "nobody writes\n" },
	{ rdunlock_written, "rwlock", "ipcwait_rwlock_rdunlock", "nobody reads\n" },
	{ wrunlock_read, "rwlock", "ipcwait_rwlock_wrunlock", "nobody writes\n" },
	{ rdlock_finished, "rwlock", "ipcwait_rwlock_rdlock", "finished\n" },
	{ wrlock_finished, "rwlock", "ipcwait_rwlock_wrlock", "finished\n" },
	{ tryrdlock_finished, "rwlock", "ipcwait_rwlock_tryrdlock", "finished\n" },
	{ trywrlock_finished, "rwlock", "ipcwait_rwlock_trywrlock", "finished\n" },
	{ 0 },
};

static struct ipcwait_mutex mutex;

static void *lock_mutex(void *arg)
{
	(void)arg;
	CHECK_EQ(ipcwait_mutex_lock(&mutex), 0);
	return NULL;
}

static void lock_elsewhere(unsigned flags)
{
	pthread_t thread;

	CHECK_EQ(ipcwait_mutex_init(&mutex, flags), 0);
	CHECK(pthread_create(&thread, NULL, lock_mutex, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
}

static void unlock_of_other(void)
{
	lock_elsewhere(0);
	(void)ipcwait_mutex_unlock(&mutex);
}

static void unlock_of_known(void)
{
	lock_elsewhere(IPCWAIT_ERRORCHECK);
	(void)ipcwait_mutex_unlock(&mutex);
}

static void unlock_of_free(void)
{
	(void)ipcwait_mutex_unlock(&mutex);
}

static void lock_again(void)
{
	(void)lock_mutex(NULL);
	(void)!ipcwait_mutex_lock(&mutex);
}

static void both_kinds(void)
{
	(void)!ipcwait_mutex_init(&mutex, IPCWAIT_RECURSIVE | IPCWAIT_ERRORCHECK);
}

static void lock_finished(void)
{
	CHECK_EQ(ipcwait_mutex_fini(&mutex), 0);
	(void)!ipcwait_mutex_lock(&mutex);
}

static void trylock_finished(void)
{
	CHECK_EQ(ipcwait_mutex_fini(&mutex), 0);
	(void)!ipcwait_mutex_trylock(&mutex);
}

static void unlock_finished(void)
{
	CHECK_EQ(ipcwait_mutex_fini(&mutex), 0);
	(void)ipcwait_mutex_unlock(&mutex);
}

static void consistent_of_plain(void)
{
	(void)!ipcwait_mutex_consistent(&mutex);
}

const struct misuse misuse_of_mutex[] = {
	{ unlock_of_other, "mutex", "ipcwait_mutex_unlock",
	  "the caller does not own it\n" },
	{ unlock_of_known, "mutex", "ipcwait_mutex_unlock",
	  "the caller does not own it\n" },
	{ unlock_of_free, "mutex", "ipcwait_mutex_unlock", "the caller does not own it\n" },
	{ lock_again, "mutex", "ipcwait_mutex_lock", "the caller owns it already\n" },
	{ both_kinds, "mutex", "ipcwait_mutex_init", "recursive and errorcheck at once\n" },
	{ lock_finished, "mutex", "ipcwait_mutex_lock", "finished\n" },
	{ trylock_finished, "mutex", "ipcwait_mutex_trylock", "finished\n" },
	{ unlock_finished, "mutex", "ipcwait_mutex_unlock", "finished\n" },
	{ consistent_of_plain, "mutex", "ipcwait_mutex_consistent",
	  "not a robust mutex\n" },
	{ 0 },
};

static struct ipcwait_cond cond;

static void wait_unlocked(void)
{
	(void)!ipcwait_cond_wait(&cond, &mutex);
}

static void wait_without_mutex(void)
{
	(void)!ipcwait_cond_wait(&cond, NULL);
}

static void wait_with_finished_mutex(void)
{
	CHECK_EQ(ipcwait_mutex_fini(&mutex), 0);
	(void)!ipcwait_cond_wait(&cond, &mutex);
}

static void signal_null(void)
{
	(void)ipcwait_cond_signal(NULL);
}

static void signal_finished(void)
{
	CHECK_EQ(ipcwait_cond_fini(&cond), 0);
	(void)ipcwait_cond_signal(&cond);
}

static void broadcast_finished(void)
{
	CHECK_EQ(ipcwait_cond_fini(&cond), 0);
	(void)ipcwait_cond_broadcast(&cond);
}

const struct misuse misuse_of_cond[] = {
	{ wait_unlocked, "mutex", "ipcwait_mutex_unlock", "the caller does not own it\n" },
	{ wait_without_mutex, "cond", "ipcwait_cond_wait", "no usable mutex\n" },
	{ wait_with_finished_mutex, "cond", "ipcwait_cond_wait", "no usable mutex\n" },
	{ signal_null, "cond", "ipcwait_cond_signal", "NULL\n" },
	{ signal_finished, "cond", "ipcwait_cond_signal", "finished\n" },
	{ broadcast_finished, "cond", "ipcwait_cond_broadcast", "finished\n" },
	{ 0 },
};
