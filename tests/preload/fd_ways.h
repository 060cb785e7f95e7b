/* SPDX-License-Identifier: MIT */
/* All the ways to wait until something can be read, and a partner that trains them. */
#ifndef TESTS_PRELOAD_FD_WAYS_H
#define TESTS_PRELOAD_FD_WAYS_H

#include <stdbool.h>
#include <sys/types.h>

enum way {
	READ_PIPE,
	READ_SOCKET,
	READ_EVENTFD,
	RECV,
	RECVFROM,
	RECVMSG,
	POLL,
	PPOLL,
	SELECT,
	PSELECT,
	EPOLL_WAIT,
	EPOLL_PWAIT,
	WAYS
};

extern const char *const way_names[WAYS];

/* The calls that wait for several descriptors: every handler ends them, and they have a time. */
static inline bool way_is_poll(enum way way)
{
	return way >= POLL;
}

/* From one end to the other, 8 bytes at a time. */
struct line {
	enum way way;
	int in, out;
	int epoll; /* or -1 */
};

void line_open(struct line *l, enum way way);
void line_close(struct line *l);
void line_give(const struct line *l);

/* Handlers of the program add 1 here. */
extern int line_handled;

/*
 * Wait in the line's way, for @timeout_ms or for ever if that is negative: only the polls know a
 * time. What the call answers; where it only tells that something is there, nothing is read.
 * EINTR without a handler comes from epoll_wait(2), or with SO_RCVTIMEO, if the process has been
 * stopped: then the call is made again.
 */
ssize_t line_wait(const struct line *l, int timeout_ms);

/* Wait for ever, and read what came. 0 or the error of the wait. */
int line_take(const struct line *l);

/* Many short hand-offs, after which a spin in front of the call is expected to pay. */
void line_train(struct line *l);

#endif
