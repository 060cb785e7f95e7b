/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "os/calls.h"
#include "os/descriptor.h"
#include "os/syscall.h"

#define NS_PER_S  1000000000
#define NS_PER_MS 1000000

/* Of <linux/signal.h>: the bytes of a signal mask, as the kernel has it. */
#define MASK_BYTES 8

bool iw_fd_nonblocking(int fd)
{
	long flags;

	if (!iw_call_allowed(IW_CALL_FLAGS))
		return true;
	flags = iw_syscall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	return flags >= 0 && flags & O_NONBLOCK;
}

bool iw_fd_readable(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return !iw_call_allowed(IW_CALL_POLL) || iw_fd_poll(&one, 1, 0) > 0;
}

ssize_t iw_fd_read(int fd, void *buffer, size_t bytes)
{
	return iw_syscall(SYS_read, fd, (long)buffer, (long)bytes, 0, 0, 0);
}

static ssize_t read_at_once(int fd, void *buffer, size_t bytes)
{
	struct iovec one = { .iov_base = buffer, .iov_len = bytes };
	long n;

	if (!iw_call_allowed(IW_CALL_READ_NOW))
		return -EOPNOTSUPP;
	/* At -1: where the file stands. Of the offset's two halves the second is void. */
	n = iw_syscall(SYS_preadv2, fd, (long)&one, 1, -1, -1, RWF_NOWAIT);

	/* A kernel, or a sandbox, that does not have the call at all. */
	return n == -ENOSYS || n == -EPERM ? -EOPNOTSUPP : n;
}

/* Of anything else what came is all that a read gives: the next one would wait. */
static bool is_on_disk(int fd)
{
	int saved_errno = errno;
	struct stat st;
	bool is = iw_call_allowed(IW_CALL_KIND) && fstat(fd, &st) == 0 &&
		  (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));

	errno = saved_errno;
	return is;
}

ssize_t iw_fd_read_rest(int fd, void *buffer, size_t bytes, ssize_t n)
{
	ssize_t more;

	if (n <= 0 || (size_t)n == bytes || !is_on_disk(fd))
		return n;
	more = iw_fd_read(fd, (char *)buffer + n, bytes - (size_t)n);
	return more > 0 ? n + more : n;
}

ssize_t iw_fd_read_now(int fd, void *buffer, size_t bytes)
{
	return iw_fd_read_rest(fd, buffer, bytes, read_at_once(fd, buffer, bytes));
}

ssize_t iw_fd_recv(int fd, void *buffer, size_t bytes, int flags)
{
	return iw_syscall(SYS_recvfrom, fd, (long)buffer, (long)bytes, flags, 0, 0);
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

int iw_fd_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
	struct timespec timeout = timespec_of(timeout_ns);
	long at = timeout_ns == INT64_MAX ? 0 : (long)&timeout;

	return (int)iw_syscall(SYS_ppoll, (long)fds, (long)n, at, 0, MASK_BYTES, 0);
}

/* Whole milliseconds, and none too few. */
static int timeout_ms(int64_t ns)
{
	if (ns == INT64_MAX)
		return -1;
	return ns / NS_PER_MS < INT_MAX ? (int)((ns + NS_PER_MS - 1) / NS_PER_MS) : INT_MAX;
}

/* Linux has the finer call since 5.11. */
static int wait_in_ms(int fd, struct epoll_event *events, int most, int64_t timeout_ns)
{
	return (int)iw_syscall(SYS_epoll_pwait, fd, (long)events, most,
			       timeout_ms(timeout_ns), 0, MASK_BYTES);
}

int iw_fd_epoll_wait(int fd, struct epoll_event *events, int most, int64_t timeout_ns)
{
	struct timespec timeout = timespec_of(timeout_ns);
	long r;

	if (timeout_ns == 0 || timeout_ns == INT64_MAX)
		return wait_in_ms(fd, events, most, timeout_ns);
	r = iw_syscall(SYS_epoll_pwait2, fd, (long)events, most, (long)&timeout, 0,
		       MASK_BYTES);
	if (r == -ENOSYS || r == -EPERM)
		return wait_in_ms(fd, events, most, timeout_ns);
	return (int)r;
}
