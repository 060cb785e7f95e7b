/* SPDX-License-Identifier: MIT */
/*
 * epoll_wait() and epoll_pwait(). A look is the same call with no time. What is reported once, an
 * edge, is reported by whichever of them it comes to, and the program gets it. With a signal mask
 * there is no look: the kernel lets in what only the mask admits when it sleeps, and not before.
 */
#include <errno.h>
#include <sys/epoll.h>

#include "fd.h"
#include "module.h"
#include "original.h"

#define NS_PER_MS 1000000

struct epoll_front {
	struct fd_front base;
	int fd; /* not the base's: O_NONBLOCK means nothing to these calls */
	struct epoll_event *events;
	int most;
	bool is_pwait; /* what the program calls */
};

static ssize_t wait_ms(const struct epoll_front *me, int timeout_ms)
{
	if (me->is_pwait)
		return original()->epoll_pwait(me->fd, me->events, me->most, timeout_ms,
					       NULL);
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

static ssize_t block(struct fd_front *base)
{
	return wait_ms((const struct epoll_front *)base,
		       base->base.limit.at ? iw_fd_left_ms(base) : -1);
}

static const struct fd_call epoll_call = { IW_FD_FRONT, look, block };

static int wait_for_events(int fd, struct epoll_event *events, int most, int timeout_ms,
			   bool is_pwait, uintptr_t site)
{
	struct epoll_front me = {
		.base.fd = -1,
		.base.base.interrupts = FRONT_ANY,
		.fd = fd,
		.events = events,
		.most = most,
		.is_pwait = is_pwait,
	};

	iw_fd_set_timeout(&me.base, (int64_t)timeout_ms * NS_PER_MS);
	return (int)iw_fd_wait(&me.base, &epoll_call, (unsigned)fd, site);
}

IW_INTERPOSED int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
	if (!iw_fd_is_on() || !timeout_ms)
		return original()->epoll_wait(fd, events, most, timeout_ms);
	return wait_for_events(fd, events, most, timeout_ms, false, IW_CALL_SITE);
}

IW_INTERPOSED int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms,
			      const sigset_t *mask)
{
	if (!iw_fd_is_on() || !timeout_ms || mask)
		return original()->epoll_pwait(fd, events, most, timeout_ms, mask);
	return wait_for_events(fd, events, most, timeout_ms, true, IW_CALL_SITE);
}
