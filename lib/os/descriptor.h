/* SPDX-License-Identifier: MIT */
/*
 * Calls on descriptors that may block. Each returns what the kernel does, a negative errno on
 * failure; none touches errno, and none is a cancellation point.
 */
#ifndef IW_OS_DESCRIPTOR_H
#define IW_OS_DESCRIPTOR_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct epoll_event;

/*
 * True if calls on it do not block. False also if @fd is none. Where that may not be asked
 * (os/calls.h) it is true, so that the call itself answers.
 */
bool iw_fd_nonblocking(int fd);

/* True if poll(2) says that read(2) would not block, or may not be asked. */
bool iw_fd_readable(int fd);

ssize_t iw_fd_read(int fd, void *buffer, size_t bytes);

/*
 * The same, but -EAGAIN instead of blocking. -EOPNOTSUPP where the kernel cannot tell for this kind
 * of descriptor: pipes have known it since Linux 6.4, sockets since 6.5.
 */
ssize_t iw_fd_read_now(int fd, void *buffer, size_t bytes);

/*
 * A read with RWF_NOWAIT has put @n of @bytes into @buffer, or has failed. Of a file or a disk the
 * cache may have had only a part: reads the rest. Returns @n, or more.
 */
ssize_t iw_fd_read_rest(int fd, void *buffer, size_t bytes, ssize_t n);

ssize_t iw_fd_recv(int fd, void *buffer, size_t bytes, int flags);

/* For @timeout_ns at most; INT64_MAX: for ever. */
int iw_fd_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns);
int iw_fd_epoll_wait(int fd, struct epoll_event *events, int most, int64_t timeout_ns);

#endif
