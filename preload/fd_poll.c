/* SPDX-License-Identifier: MIT */
/*
 * poll() and ppoll(). A look is the same call with no time, and so is the sleep: what has a rest of
 * its time is ppoll(), unless a filter of system calls forbids it. With a signal mask there is no
 * look: the mask holds for the whole call, and between two looks the thread has its own.
 */
#include <errno.h>
#include <poll.h>

#include "fd.h"
#include "module.h"
#include "original.h"

#define NS_PER_S  1000000000
#define NS_PER_MS 1000000

struct poll_front {
	struct fd_front base;
	struct pollfd *fds;
	nfds_t n;
	bool is_ppoll; /* what the program calls */
};

static ssize_t look(struct fd_front *base)
{
	static const struct timespec now = { 0, 0 };
	const struct poll_front *me = (const struct poll_front *)base;
	int n = me->is_ppoll ? original()->ppoll(me->fds, me->n, &now, NULL)
			     : original()->poll(me->fds, me->n, 0);

	if (n != 0)
		return n;
	errno = EAGAIN;
	return -1;
}

static ssize_t block(struct fd_front *base)
{
	const struct poll_front *me = (const struct poll_front *)base;
	bool timed = base->base.limit.at;
	struct timespec left = { 0, 0 };

	if (!me->is_ppoll && (!timed || !iw_call_allowed(IW_CALL_POLL)))
		return original()->poll(me->fds, me->n, timed ? iw_fd_left_ms(base) : -1);
	if (timed)
		left = iw_fd_left(base);
	return original()->ppoll(me->fds, me->n, timed ? &left : NULL, NULL);
}

static const struct fd_call poll_call = { IW_FD_FRONT, look, block };

/* Those who poll from their stacks are told apart by where. */
static int wait_to_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns, bool is_ppoll,
			uintptr_t site)
{
	struct poll_front me = {
		.base.fd = -1,
		.base.base.interrupts = FRONT_ANY,
		.fds = fds,
		.n = n,
		.is_ppoll = is_ppoll,
	};

	iw_fd_set_timeout(&me.base, timeout_ns);
	return (int)iw_fd_wait(&me.base, &poll_call, (unsigned)((uintptr_t)fds >> 3), site);
}

/* One that does not wait, or for nothing but time, is left alone. */
static bool waits(nfds_t n, int timeout_ms)
{
	return iw_fd_is_on() && n && timeout_ms;
}

IW_INTERPOSED int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	if (!waits(n, timeout_ms))
		return original()->poll(fds, n, timeout_ms);
	return wait_to_poll(fds, n, (int64_t)timeout_ms * NS_PER_MS, false, IW_CALL_SITE);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room);
IW_INTERPOSED int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room)
{
	if (!waits(n, timeout_ms) || n > room / sizeof(*fds))
		return original()->poll_chk(fds, n, timeout_ms, room);
	return wait_to_poll(fds, n, (int64_t)timeout_ms * NS_PER_MS, false, IW_CALL_SITE);
}

/* False: the kernel says what is wrong, or it does not wait. */
static bool takes(nfds_t n, const struct timespec *timeout, int64_t *ns)
{
	*ns = -1;
	if (!iw_fd_is_on() || !n)
		return false;
	if (!timeout)
		return true;
	if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= NS_PER_S)
		return false;
	if (timeout->tv_sec < INT64_MAX / NS_PER_S)
		*ns = timeout->tv_sec * NS_PER_S + timeout->tv_nsec;
	return *ns != 0;
}

IW_INTERPOSED int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
			const sigset_t *mask)
{
	int64_t ns;

	if (mask || !takes(n, timeout, &ns))
		return original()->ppoll(fds, n, timeout, mask);
	return wait_to_poll(fds, n, ns, true, IW_CALL_SITE);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask, size_t room);
IW_INTERPOSED int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
			      const sigset_t *mask, size_t room)
{
	int64_t ns;

	if (mask || !takes(n, timeout, &ns) || n > room / sizeof(*fds))
		return original()->ppoll_chk(fds, n, timeout, mask, room);
	return wait_to_poll(fds, n, ns, true, IW_CALL_SITE);
}
