/* SPDX-License-Identifier: MIT */
/*
 * read(), the recv() family and accept(). Sockets are looked at by the call itself, with
 * MSG_DONTWAIT, others by a read that does not wait, where the kernel has one. Else poll(2) is
 * asked first, so that one thread may find what another takes before it: then the call sleeps,
 * as it would have.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fd.h"
#include "module.h"
#include "os/descriptor.h"
#include "original.h"

/* With these the call does not wait, or waits for what no look can tell. */
#define NO_LOOK (MSG_DONTWAIT | MSG_WAITALL | MSG_OOB | MSG_ERRQUEUE)

/* In the place of accept4()'s flags: the program calls accept(). */
#define NOT_ACCEPT4 (-1)

/* Some socket of this process has a low water mark: looks would take less. */
static struct ipcwait_word32 has_mark;

static bool has_marks(void)
{
	/* ORD fd_read.X1: relaxed, no order needed: who sets it orders its calls itself. */
	return ipcwait_impl_load32_relaxed(&has_mark);
}

/* Calls on the socket @fd with @flags are looked at. */
static bool looks(int fd, int flags)
{
	return iw_fd_is_on() && !(flags & NO_LOOK) && !has_marks() &&
	       !iw_fd_was_nonblocking(fd);
}

IW_INTERPOSED int setsockopt(int fd, int level, int name, const void *value,
			     socklen_t length)
{
	if (level == SOL_SOCKET && name == SO_RCVLOWAT)
		/* ORD fd_read.X2: relaxed, no order, as fd_read.X1. */
		ipcwait_impl_store32_relaxed(&has_mark, 1);
	return original()->setsockopt(fd, level, name, value, length);
}

struct read_front {
	struct fd_front base;
	void *to;
	size_t n;
	int flags;
	struct sockaddr *from;
	socklen_t *length;
	struct msghdr *message;
};

static ssize_t nothing(void)
{
	errno = EAGAIN;
	return -1;
}

/* One with O_NONBLOCK answers itself. */
static ssize_t look_read(struct fd_front *base)
{
	struct read_front *me = (struct read_front *)base;

	if (iw_fd_blocks(base) && !iw_fd_readable(base->fd))
		return nothing();
	return original()->read(base->fd, me->to, me->n);
}

/* The kernel does not know how for such a descriptor, or a filter forbids the call. */
static bool cannot_read_now(int error)
{
	return error == EOPNOTSUPP || error == ENOSYS || error == EPERM;
}

/*
 * Past the next library, so only where that is the C library itself, whose function is cancelled as
 * its read() is. At -1: where the file stands. The number may be a file's since its kind was asked
 * for.
 */
static ssize_t look_read_now(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;
	struct iovec one = { .iov_base = me->to, .iov_len = me->n };
	ssize_t n;

	if (!original()->preadv2 || !iw_call_allowed(IW_CALL_READ_NOW))
		return look_read(base);
	n = original()->preadv2(base->fd, &one, 1, -1, RWF_NOWAIT);
	if (n >= 0)
		return iw_fd_read_rest(base->fd, me->to, me->n, n);
	if (!cannot_read_now(errno))
		return -1;
	iw_fd_note_kind(base->fd, FD_ASKED);
	return look_read(base);
}

static ssize_t block_read(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;

	return original()->read(base->fd, me->to, me->n);
}

/* The number may be another's since its kind was asked for. */
static ssize_t look_read_socket(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;
	ssize_t n;

	if (!iw_call_allowed(IW_CALL_RECV))
		return look_read(base);
	n = original()->recv(base->fd, me->to, me->n, MSG_DONTWAIT);

	return n < 0 && errno == ENOTSOCK ? look_read(base) : n;
}

static ssize_t look_recvfrom(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;

	return original()->recvfrom(base->fd, me->to, me->n, me->flags | MSG_DONTWAIT,
				    me->from, me->length);
}

static ssize_t block_recvfrom(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;

	return original()->recvfrom(base->fd, me->to, me->n, me->flags, me->from,
				    me->length);
}

static ssize_t look_recv(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;

	return original()->recv(base->fd, me->to, me->n, me->flags | MSG_DONTWAIT);
}

static ssize_t block_recv(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;

	return original()->recv(base->fd, me->to, me->n, me->flags);
}

static ssize_t look_recvmsg(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;

	return original()->recvmsg(base->fd, me->message, me->flags | MSG_DONTWAIT);
}

static ssize_t block_recvmsg(struct fd_front *base)
{
	const struct read_front *me = (const struct read_front *)base;

	return original()->recvmsg(base->fd, me->message, me->flags);
}

static ssize_t accept_now(const struct read_front *me)
{
	if (me->flags != NOT_ACCEPT4)
		return original()->accept4(me->base.fd, me->from, me->length, me->flags);
	return original()->accept(me->base.fd, me->from, me->length);
}

static ssize_t look_accept(struct fd_front *base)
{
	if (iw_fd_blocks(base) && !iw_fd_readable(base->fd))
		return nothing();
	return accept_now((const struct read_front *)base);
}

static ssize_t block_accept(struct fd_front *base)
{
	return accept_now((const struct read_front *)base);
}

static const struct fd_call read_call = { IW_FD_FRONT, look_read, block_read };
static const struct fd_call read_now_call = { IW_FD_FRONT, look_read_now, block_read };
static const struct fd_call read_socket_call = { IW_FD_FRONT, look_read_socket,
						 block_read };
static const struct fd_call recv_call = { IW_FD_FRONT, look_recv, block_recv };
static const struct fd_call recvfrom_call = { IW_FD_FRONT, look_recvfrom, block_recvfrom };
static const struct fd_call recvmsg_call = { IW_FD_FRONT, look_recvmsg, block_recvmsg };
static const struct fd_call accept_call = { IW_FD_FRONT, look_accept, block_accept };

static struct read_front front_of(int fd)
{
	return (struct read_front){ .base.fd = fd,
				    .base.base.interrupts = FRONT_INTERRUPTING };
}

static ssize_t wait_to_read(int fd, void *to, size_t n, uintptr_t site)
{
	static const struct fd_call *const calls[FD_KINDS] = {
		[FD_SOCKET] = &read_socket_call,
		[FD_OTHER] = &read_now_call,
		[FD_ASKED] = &read_call,
	};
	enum fd_kind kind = n ? iw_fd_kind(fd) : FD_NEVER;
	const struct fd_call *call = calls[kind];
	struct read_front me = front_of(fd);

	if (!call || (kind == FD_SOCKET && has_marks()))
		return original()->read(fd, to, n);
	me.to = to;
	me.n = n;
	return iw_fd_wait(&me.base, call, (unsigned)fd, site);
}

IW_INTERPOSED ssize_t read(int fd, void *to, size_t n)
{
	if (!iw_fd_is_on())
		return original()->read(fd, to, n);
	return wait_to_read(fd, to, n, IW_CALL_SITE);
}

ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
IW_INTERPOSED ssize_t __read_chk(int fd, void *to, size_t n, size_t room)
{
	if (!iw_fd_is_on() || n > room)
		return original()->read_chk(fd, to, n, room);
	return wait_to_read(fd, to, n, IW_CALL_SITE);
}

static ssize_t wait_to_recv(int fd, void *to, size_t n, int flags, uintptr_t site)
{
	struct read_front me = front_of(fd);

	me.to = to;
	me.n = n;
	me.flags = flags;
	return iw_fd_wait(&me.base, &recv_call, (unsigned)fd, site);
}

IW_INTERPOSED ssize_t recv(int fd, void *to, size_t n, int flags)
{
	if (!looks(fd, flags))
		return original()->recv(fd, to, n, flags);
	return wait_to_recv(fd, to, n, flags, IW_CALL_SITE);
}

ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);
IW_INTERPOSED ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags)
{
	if (!looks(fd, flags) || n > room)
		return original()->recv_chk(fd, to, n, room, flags);
	return wait_to_recv(fd, to, n, flags, IW_CALL_SITE);
}

static ssize_t wait_to_recvfrom(int fd, void *to, size_t n, int flags,
				struct sockaddr *from, socklen_t *length, uintptr_t site)
{
	struct read_front me = front_of(fd);

	me.to = to;
	me.n = n;
	me.flags = flags;
	me.from = from;
	me.length = length;
	return iw_fd_wait(&me.base, &recvfrom_call, (unsigned)fd, site);
}

IW_INTERPOSED ssize_t recvfrom(int fd, void *restrict to, size_t n, int flags,
			       __SOCKADDR_ARG from, socklen_t *restrict length)
{
	if (!looks(fd, flags))
		return original()->recvfrom(fd, to, n, flags, from.__sockaddr__, length);
	return wait_to_recvfrom(fd, to, n, flags, from.__sockaddr__, length, IW_CALL_SITE);
}

ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t room, int flags,
		       struct sockaddr *restrict from, socklen_t *restrict length);
IW_INTERPOSED ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t room,
				     int flags, struct sockaddr *restrict from,
				     socklen_t *restrict length)
{
	if (!looks(fd, flags) || n > room)
		return original()->recvfrom_chk(fd, to, n, room, flags, from, length);
	return wait_to_recvfrom(fd, to, n, flags, from, length, IW_CALL_SITE);
}

IW_INTERPOSED ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	struct read_front me;

	if (!looks(fd, flags))
		return original()->recvmsg(fd, message, flags);
	me = front_of(fd);
	me.message = message;
	me.flags = flags;
	return iw_fd_wait(&me.base, &recvmsg_call, (unsigned)fd, IW_CALL_SITE);
}

static int wait_to_accept(int fd, struct sockaddr *from, socklen_t *length, int flags,
			  uintptr_t site)
{
	struct read_front me = front_of(fd);

	me.from = from;
	me.length = length;
	me.flags = flags;
	return (int)iw_fd_wait(&me.base, &accept_call, (unsigned)fd, site);
}

IW_INTERPOSED int accept(int fd, __SOCKADDR_ARG from, socklen_t *restrict length)
{
	if (!looks(fd, 0))
		return original()->accept(fd, from.__sockaddr__, length);
	return wait_to_accept(fd, from.__sockaddr__, length, NOT_ACCEPT4, IW_CALL_SITE);
}

IW_INTERPOSED int accept4(int fd, __SOCKADDR_ARG from, socklen_t *restrict length,
			  int flags)
{
	if (!looks(fd, 0))
		return original()->accept4(fd, from.__sockaddr__, length, flags);
	return wait_to_accept(fd, from.__sockaddr__, length, flags, IW_CALL_SITE);
}
