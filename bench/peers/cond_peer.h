/* SPDX-License-Identifier: MIT */
/* The condition variables that are compared, each with the mutex that belongs to it. */
#ifndef BENCH_COND_PEER_H
#define BENCH_COND_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Room for a mutex and two condition variables, away from everything else. */
struct cond_room {
#ifdef __cplusplus
	alignas(128) unsigned char bytes[384];
#else
	_Alignas(128) unsigned char bytes[384];
#endif
};

/* A failure ends the program. @which is 0 or 1: one condition variable for each direction. */
struct cond_ops {
	const char *name;
	void (*init)(void *room);
	void (*lock)(void *room);
	void (*unlock)(void *room);
	void (*wait)(void *room, int which); /* may return for no reason */
	void (*signal)(void *room, int which);
	void (*broadcast)(void *room, int which);
	void (*end)(void *room); /* NULL: nothing to be given back */
};

#ifdef __cplusplus
}
#endif

#endif
