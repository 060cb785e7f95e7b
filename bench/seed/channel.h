/* SPDX-License-Identifier: MIT */
/*
 * Channels of C and C++ programs in the place of Go's unbuffered ones: room for one number, or
 * for none where the name says so; senders wait for the room and receivers for the number. One that
 * was not built has a reason.
 */
#ifndef SEED_CHANNEL_H
#define SEED_CHANNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct channel_ops {
	const char *name;
	const char *missing;   /* NULL if built, else "not built: ..." */
	void *(*create)(void); /* NULL: no memory */
	void (*send)(void *channel, int64_t value);
	int64_t (*receive)(void *channel);
	void (*destroy)(void *channel);
};

extern const struct channel_ops channel_ipcwait;
extern const struct channel_ops channel_ipcwait_rendezvous;
extern const struct channel_ops channel_futex;
extern const struct channel_ops channel_futex_yields;
extern const struct channel_ops channel_glibc;
extern const struct channel_ops channel_tbb;

/* The same as channel_glibc for the children of the process that makes it. */
extern const struct channel_ops channel_glibc_shared;

#ifdef __cplusplus
}
#endif

#endif
