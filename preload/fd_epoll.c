/* SPDX-License-Identifier: MIT */
/*
 * epoll_wait() and epoll_pwait(). A look is the same call with no time. What is reported once, an
 * edge, is reported by whichever of them it comes to, and the program gets it. With a signal mask
 * there is no look: the kernel lets in what only the mask admits when it sleeps, and not before.
 */
#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>

#include "fd.h"
#include "module.h"
#include "original.h"

#define MS_PER_S  1000
#define NS_PER_MS 1000000

struct epoll_front {
	struct fd_front base;
	int fd; /* not the base's: O_NONBLOCK means nothing to these calls */
	struct epoll_event *events;
	int most;
};

static ssize_t wait_ms(const struct epoll_front *me, int timeout_ms)
{
	return original()->epoll_wait(me->fd, me->events, me->most, timeout_ms);
}

static ssize_t look(struct fd_front *base)
{
	ssize_t n = wait_ms((const struct epoll_front *)base, 0);

	if (n != 0)
		return n;
	errno = EAGAIN;
	return -1;
}

/* Whole milliseconds, and none too few. */
static int left_ms(const struct fd_front *base)
{
	struct timespec left = iw_fd_left(base);

	if (left.tv_sec >= INT_MAX / MS_PER_S)
		return INT_MAX;
	return (int)(left.tv_sec * MS_PER_S + (left.tv_nsec + NS_PER_MS - 1) / NS_PER_MS);
}

static ssize_t block(struct fd_front *base)
{
	return wait_ms((const struct epoll_front *)base,
		       base->base.limit.at ? left_ms(base) : -1);
}

static const struct fd_call epoll_call = { IW_FD_FRONT, look, block };

static int wait_for_events(int fd, struct epoll_event *events, int most, int timeout_ms,
			   uintptr_t site)
{
	struct epoll_front me = {
		.base.fd = -1,
		.base.base.interrupts = FRONT_ANY,
		.fd = fd,
		.events = events,
		.most = most,
	};

	iw_fd_set_timeout(&me.base, (int64_t)timeout_ms * NS_PER_MS);
	return (int)iw_fd_wait(&me.base, &epoll_call, (unsigned)fd, site);
}

IW_INTERPOSED int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
	if (!iw_fd_is_on || !timeout_ms)
		return original()->epoll_wait(fd, events, most, timeout_ms);
	return wait_for_events(fd, events, most, timeout_ms, IW_CALL_SITE);
}

IW_INTERPOSED int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms,
			      const sigset_t *mask)
{
	if (!iw_fd_is_on || !timeout_ms || mask)
		return original()->epoll_pwait(fd, events, most, timeout_ms, mask);
	return wait_for_events(fd, events, most, timeout_ms, IW_CALL_SITE);
}
