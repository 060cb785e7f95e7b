/* SPDX-License-Identifier: MIT */
/* The locks that are compared, for the threads of one process. */
#ifndef BENCH_LOCK_PEER_H
#define BENCH_LOCK_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Room for any of them, away from everything else. */
struct lock_room {
#ifdef __cplusplus
	alignas(128) unsigned char bytes[512];
#else
	_Alignas(128) unsigned char bytes[512];
#endif
};

/*
 * What a thread must keep from lock to unlock: the queue node of an MCS lock, say. One for
 * each thread and lock, zero before the first use.
 */
struct lock_hold {
#ifdef __cplusplus
	alignas(128) unsigned char bytes[128];
#else
	_Alignas(128) unsigned char bytes[128];
#endif
};

/* A failure ends the program. */
struct lock_ops {
	const char *name;
	void (*init)(void *lock);
	void (*lock)(void *lock, struct lock_hold *hold);
	void (*unlock)(void *lock, struct lock_hold *hold);
	void (*end)(void *lock); /* NULL: nothing to be given back */
};

/* Of a lock for readers and writers. */
struct rwlock_ops {
	const char *name;
	void (*init)(void *lock);
	void (*rdlock)(void *lock);
	void (*wrlock)(void *lock);
	void (*unlock)(void *lock);
	void (*end)(void *lock); /* NULL: nothing to be given back */
};

#ifdef __cplusplus
}
#endif

#endif
