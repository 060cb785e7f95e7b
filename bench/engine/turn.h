/* SPDX-License-Identifier: MIT */
/*
 * How the two of a pair hand their turns over: by a semaphore, by a count under a mutex and a
 * condition variable, or by a channel with room for one element; libc's or libipcwait's.
 */
#ifndef WAIT_BENCH_TURN_H
#define WAIT_BENCH_TURN_H

#include "../peers/sem_peer.h"

#include <stdbool.h>

struct turn {
	const struct sem_ops *ops; /* a post gives a turn away, a wait takes it */
	/* Called by each end of a room in its own process, before the first turn; NULL: nothing. */
	void (*join)(void *room, bool waits);
};

enum object { OBJECT_SEM, OBJECT_COND, OBJECT_CHANNEL, OBJECTS };

/* For the names of cells: "sem", "cond", "chan." */
extern const char *const object_names[OBJECTS];

/* Who made the object. libc has no channel: a place under a mutex and two condition variables. */
enum maker { MAKER_GLIBC, MAKER_IPCWAIT, MAKERS };

const struct turn *turn_by(enum object object, enum maker maker, bool processes);

extern const struct turn turn_channel_glibc, turn_channel_ipcwait;
extern const struct turn turn_channel_glibc_shared, turn_channel_ipcwait_shared;

#endif
