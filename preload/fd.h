/* SPDX-License-Identifier: MIT */
/*
 * Calls on descriptors that may block: the same call that does not block, as the next library has
 * it, until the engine says to sleep; then the call itself. Only where IPCWAIT_FD=1 asks for it.
 */
#ifndef IW_PRELOAD_FD_H
#define IW_PRELOAD_FD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <ipcwait/base.h>

#include "front.h"
#include "os/calls.h"

/* One wait. A call embeds it first in a struct of its own. */
struct fd_front {
	struct front base;
	ssize_t value;         /* what the call returns if it does not fail */
	int fd;                /* whose O_NONBLOCK counts; negative: none */
	bool asked;            /* it has none */
	uint32_t handled;      /* all handlers that had run when the wait began */
	struct timespec until; /* when a timeout that is a length ends */
};

/* What differs from call to call. Each returns what the call does, with errno. */
struct fd_call {
	struct front_call front;              /* as IW_FD_FRONT */
	ssize_t (*look)(struct fd_front *me); /* EAGAIN: nothing is there */
	ssize_t (*block)(struct fd_front *me);
};

/* Whether calls on it block, or did lately. */
bool iw_fd_blocks(struct fd_front *me);

int iw_fd_take(const struct front *base);
int iw_fd_block(const struct front *base);
struct iw_rest iw_fd_settle(struct iw_waiter *base);

#define IW_FD_WAITABLE                                                             \
	{                                                                          \
		.kind = IPCWAIT_KIND_FD, .in_kernel = true, .look = iw_front_look, \
		.settle = iw_fd_settle                                             \
	}
#define IW_FD_FRONT \
	.front = { .waitable = IW_FD_WAITABLE, .take = iw_fd_take, .block = iw_fd_block }

/*
 * Wait as @call says, with what is known about waits of @what, any number whose lowest 16 bits
 * tell, at @site. Returns what the call does, with errno.
 */
ssize_t iw_fd_wait(struct fd_front *me, const struct fd_call *call, unsigned what,
		   uintptr_t site);

extern bool iw_fd_wanted;

/* Looks are wanted, and may be made: lib/os/calls.h. */
static inline bool iw_fd_is_on(void)
{
	return iw_fd_wanted && iw_call_allowed(IW_CALL_YIELD);
}

/* What read(2) would wait for. */
enum fd_kind {
	FD_UNKNOWN,
	FD_NEVER, /* nothing: a file, a directory, a device; or it is no descriptor */
	FD_SOCKET,
	FD_OTHER,       /* a pipe, an eventfd and its like: what comes is all of a read */
	FD_ASKED,       /* the same, but only poll(2) can tell whether a read would wait */
	FD_NONBLOCKING, /* any of these with O_NONBLOCK: a look would be one call more */
	FD_KINDS,
};

/* As it was lately: the kernel is asked again after some calls. */
enum fd_kind iw_fd_kind(int fd);

/* Whether it is FD_NONBLOCKING, as has turned out lately. The kernel is not asked. */
bool iw_fd_was_nonblocking(int fd);

/* It is FD_ASKED, or FD_NONBLOCKING, as has turned out. */
void iw_fd_note_kind(int fd, enum fd_kind kind);

/* A timeout of @ns from now. Negative: for ever. */
void iw_fd_set_timeout(struct fd_front *me, int64_t ns);

/* What is left of it, 0 at least. Only if base.limit.at is set. */
struct timespec iw_fd_left(const struct fd_front *me);

/* The same in whole milliseconds, and none too few. */
int iw_fd_left_ms(const struct fd_front *me);

#endif
