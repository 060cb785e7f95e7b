/* SPDX-License-Identifier: MIT */
/*
 * Waits for descriptors. A look is the call itself where that can be told not to block, and a
 * question to poll(2) else; the sleep is the call, which looks once more. There is no word and
 * nothing to publish: the kernel has the sleepers. docs/design/descriptors.md
 */
#include <errno.h>
#include <sys/socket.h>

#include <ipcwait/fd.h>

#include "engine/wait.h"
#include "os/descriptor.h"
#include "os/seam.h"
#include "sync/object.h"

/* What waits without a window of their own have taught, by number: those far apart share one. */
#define WINDOWS 1024u

/* With these recv(2) does not wait, or waits for what no look can tell. */
#define NO_LOOK (MSG_DONTWAIT | MSG_WAITALL | MSG_OOB | MSG_ERRQUEUE)

static struct ipcwait_window windows[WINDOWS];

struct fd_waiter {
	struct iw_waiter base;
	const struct fd_call *call;
	int fd;
	bool asked; /* whether it has O_NONBLOCK, after the first look in vain */
	bool over;  /* the call that could sleep has returned */
	void *to;
	size_t n;
	int flags;
	ssize_t result;
};

/* What differs from call to call. */
struct fd_call {
	/* -EAGAIN: it would block. */
	ssize_t (*look)(const struct fd_waiter *me);
	ssize_t (*block)(const struct fd_waiter *me, int64_t timeout_ns);
	bool asks; /* -EAGAIN may be the descriptor's answer */
};

static enum iw_seen look(struct iw_waiter *base)
{
	struct fd_waiter *me = (struct fd_waiter *)base;

	if (me->over)
		return me->result == -ETIMEDOUT ? IW_AWAY : IW_THERE;
	me->result = me->call->look(me);
	if (me->result != -EAGAIN)
		return IW_THERE;
	if (me->asked || !me->call->asks || !iw_fd_nonblocking(me->fd)) {
		me->asked = true;
		return IW_AWAY;
	}
	/* It does not block, and answers itself: of a file, a look finds less than a read would. */
	me->result = me->call->block(me, 0);
	return IW_THERE;
}

/* The call looks itself; the word says nothing. */
static struct iw_rest settle(struct iw_waiter *base)
{
	static const uint32_t none;
	struct iw_rest rest = iw_rest_on(&none, 0);

	(void)base;
	rest.may_spin = false;
	return rest;
}

/* In the place of the futex. */
static int sleep_in_call(struct iw_waiter *base, const struct iw_rest *rest,
			 int64_t until_ns)
{
	struct fd_waiter *me = (struct fd_waiter *)base;
	int64_t left_ns = INT64_MAX;

	(void)rest;
	(void)until_ns;
	if (base->deadline_ns != IPCWAIT_FOREVER)
		left_ns = base->deadline_ns - iw_clock_ns();
	me->result = me->call->block(me, left_ns < 0 ? 0 : left_ns);
	me->over = true;
	return me->result == -ETIMEDOUT ? -ETIMEDOUT : 0;
}

static const struct iw_waitable fd_waitable = {
	.kind = IPCWAIT_KIND_FD,
	.in_kernel = true,
	.look = look,
	.settle = settle,
};

static ssize_t wait_for(struct fd_waiter *me, const struct fd_call *call,
			struct ipcwait_window *w, const char *name)
{
	int r;

	if ((uintptr_t)w % 8)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_FD, w, name, "misaligned window");
	me->call = call;
	me->base.what = &fd_waitable;
	me->base.window = w ? w : &windows[(unsigned)me->fd % WINDOWS];
	me->base.sleep = sleep_in_call;
	r = iw_wait(&me->base);
	return r ? r : me->result;
}

static ssize_t read_now(const struct fd_waiter *me, int64_t timeout_ns)
{
	(void)timeout_ns;
	return iw_fd_read(me->fd, me->to, me->n);
}

static ssize_t read_if_there(const struct fd_waiter *me)
{
	ssize_t n = iw_fd_read_now(me->fd, me->to, me->n);

	if (n != -EOPNOTSUPP)
		return n;
	return iw_fd_readable(me->fd) ? read_now(me, 0) : -EAGAIN;
}

long ipcwait_read(int fd, void *buffer, size_t bytes, struct ipcwait_window *w)
{
	static const struct fd_call call = { read_if_there, read_now, .asks = true };
	struct fd_waiter me = {
		.base.deadline_ns = IPCWAIT_FOREVER,
		.base.site = IW_CALL_SITE,
		.fd = fd,
		.to = buffer,
		.n = bytes,
	};

	return wait_for(&me, &call, w, "ipcwait_read");
}

static ssize_t recv_now(const struct fd_waiter *me, int64_t timeout_ns)
{
	(void)timeout_ns;
	return iw_fd_recv(me->fd, me->to, me->n, me->flags);
}

static ssize_t recv_if_there(const struct fd_waiter *me)
{
	return iw_fd_recv(me->fd, me->to, me->n, me->flags | MSG_DONTWAIT);
}

long ipcwait_recv(int fd, void *buffer, size_t bytes, int flags, struct ipcwait_window *w)
{
	static const struct fd_call call = { recv_if_there, recv_now, .asks = true };
	struct fd_waiter me = {
		.base.deadline_ns = IPCWAIT_FOREVER,
		.base.site = IW_CALL_SITE,
		.fd = fd,
		.to = buffer,
		.n = bytes,
		.flags = flags,
	};

	if (flags & NO_LOOK && (uintptr_t)w % 8 == 0)
		return recv_now(&me, 0);
	return wait_for(&me, &call, w, "ipcwait_recv");
}

static ssize_t poll_for(const struct fd_waiter *me, int64_t timeout_ns)
{
	int r = iw_fd_poll(me->to, me->n, timeout_ns);

	return r ? r : -ETIMEDOUT;
}

/* The kernel answers a poll with no time by -EINTR too, if a signal is under way. */
static ssize_t seen_at_once(int r)
{
	return r && r != -EINTR ? r : -EAGAIN;
}

static ssize_t poll_now(const struct fd_waiter *me)
{
	return seen_at_once(iw_fd_poll(me->to, me->n, 0));
}

int ipcwait_poll(struct pollfd *fds, unsigned long n, int64_t deadline_ns,
		 struct ipcwait_window *w)
{
	static const struct fd_call call = { poll_now, poll_for, .asks = false };
	struct fd_waiter me = {
		.base.deadline_ns = deadline_ns,
		.base.site = IW_CALL_SITE,
		.fd = n && fds ? fds[0].fd : 0,
		.to = fds,
		.n = n,
	};

	return (int)wait_for(&me, &call, w, "ipcwait_poll");
}

static ssize_t epoll_for(const struct fd_waiter *me, int64_t timeout_ns)
{
	int r = iw_fd_epoll_wait(me->fd, me->to, (int)me->n, timeout_ns);

	return r ? r : -ETIMEDOUT;
}

static ssize_t epoll_now(const struct fd_waiter *me)
{
	return seen_at_once(iw_fd_epoll_wait(me->fd, me->to, (int)me->n, 0));
}

int ipcwait_epoll_wait(int fd, struct epoll_event *events, int most, int64_t deadline_ns,
		       struct ipcwait_window *w)
{
	static const struct fd_call call = { epoll_now, epoll_for, .asks = false };
	struct fd_waiter me = {
		.base.deadline_ns = deadline_ns,
		.base.site = IW_CALL_SITE,
		.fd = fd,
		.to = events,
		.n = (size_t)most,
	};

	return (int)wait_for(&me, &call, w, "ipcwait_epoll_wait");
}
