/* SPDX-License-Identifier: MIT */
/* The build defines MISSING_NAME for each library that it did not find: what the tables say. */
#include "peers.h"
#include "peer_ops.h"

#include <stddef.h>

#ifdef MISSING_ABSEIL
#define ABSEIL(ops) NULL, MISSING_ABSEIL
#else
#define ABSEIL(ops) &(ops), NULL
#endif

#ifdef MISSING_CK
#define CK(ops) NULL, MISSING_CK
#else
#define CK(ops) &(ops), NULL
#endif

#ifdef MISSING_CXX20
#define CXX20(ops) NULL, MISSING_CXX20
#else
#define CXX20(ops) &(ops), NULL
#endif

#ifdef MISSING_MOODYCAMEL
#define MOODYCAMEL(ops) NULL, MISSING_MOODYCAMEL
#else
#define MOODYCAMEL(ops) &(ops), NULL
#endif

#ifdef MISSING_NSYNC
#define NSYNC(ops) NULL, MISSING_NSYNC
#else
#define NSYNC(ops) &(ops), NULL
#endif

#ifdef MISSING_TBB
#define TBB(ops) NULL, MISSING_TBB
#else
#define TBB(ops) &(ops), NULL
#endif

/*
 * libstdc++ 12 reads the value, tries 16 times, and sleeps if the value is then what it read.
 * If it read 1, another waiter took that token and a post brought a new one, it sleeps beside
 * the token, and no post to a semaphore that has tokens wakes anybody (GCC bug 104928). A
 * waiter that is alone has always read 0.
 */
#define ONE_WAITER "not available: libstdc++ may lose the wake of a second waiter"

const struct sem_peer sem_peers[] = {
	{ "ipcwait", &sem_adaptive, NULL, NULL },
	{ "glibc", &sem_glibc, NULL, NULL },
	{ "glibc-again", &sem_glibc, NULL, NULL },
	{ "glibc-cond", &sem_glibc_cond, NULL, NULL },
	{ "spin", &sem_spin, NULL, NULL },
	{ "block", &sem_block, NULL, NULL },
	{ "nsync", NSYNC(sem_nsync), NULL },
	{ "abseil", ABSEIL(sem_abseil), NULL },
	{ "cxx20", CXX20(sem_cxx20), ONE_WAITER },
	{ "ck", CK(sem_ck), NULL },
	{ "moodycamel", MOODYCAMEL(sem_moodycamel), NULL },
	{ "tbb", TBB(sem_tbb), NULL },
	{ NULL, NULL, NULL, NULL },
};

const struct lock_peer lock_peers[] = {
	{ "ipcwait", &lock_ipcwait, NULL },
	{ "glibc", &lock_glibc, NULL },
	{ "glibc-again", &lock_glibc, NULL },
	{ "glibc-adaptive", &lock_glibc_adaptive, NULL },
	{ "nsync", NSYNC(lock_nsync) },
	{ "abseil", ABSEIL(lock_abseil) },
	{ "tbb", TBB(lock_tbb) },
	{ "tbb-spin", TBB(lock_tbb_spin) },
	{ "tbb-queuing", TBB(lock_tbb_queuing) },
	{ "ck-fas", CK(lock_ck_fas) },
	{ "ck-mcs", CK(lock_ck_mcs) },
	{ "tas", &lock_tas, NULL },
	{ "ipcwait-rwlock", &lock_ipcwait_rwlock, NULL },
	{ "glibc-rwlock", &lock_glibc_rwlock, NULL },
	{ NULL, NULL, NULL },
};

const struct lock_peer token_peers[] = {
	{ "ipcwait-sem", &lock_ipcwait_sem, NULL },
	{ "glibc-sem", &lock_glibc_sem, NULL },
	{ "ipcwait-queue", &lock_ipcwait_queue, NULL },
	{ "glibc-queue", &lock_glibc_queue, NULL },
	{ NULL, NULL, NULL },
};

const struct rwlock_peer rwlock_peers[] = {
	{ "ipcwait", &rwlock_ipcwait },
	{ "glibc", &rwlock_glibc },
	{ "glibc-again", &rwlock_glibc },
	{ NULL, NULL },
};

const struct cond_peer cond_peers[] = {
	{ "ipcwait", &cond_ipcwait, NULL },   { "glibc", &cond_glibc, NULL },
	{ "glibc-again", &cond_glibc, NULL }, { "nsync", NSYNC(cond_nsync) },
	{ "abseil", ABSEIL(cond_abseil) },    { NULL, NULL, NULL },
};
