/* SPDX-License-Identifier: MIT */
/* A descriptor that the library has opened for itself. errno is preserved. */
#ifndef IW_OS_OWN_FD_H
#define IW_OS_OWN_FD_H

#include <fcntl.h>
#include <sys/syscall.h>

#include "os/syscall.h"

/*
 * Numbers below are those of standard streams: a program that has closed its own takes the next
 * descriptor that anybody opens for one of them, and prints into it.
 */
#define IW_OWN_FD_LEAST 3

static inline void iw_own_fd_close(int fd)
{
	(void)iw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/*
 * The same file with a number that no stream has, closed by execve(2). @fd itself as a rule; a
 * negative errno if that is what @fd is, or if there is no other number.
 */
static inline int iw_own_fd(int fd)
{
	int higher;

	if (fd < 0 || fd >= IW_OWN_FD_LEAST)
		return fd;
	higher = (int)iw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, IW_OWN_FD_LEAST, 0, 0, 0);
	iw_own_fd_close(fd);
	return higher;
}

/*
 * To read a file at once and close it. Behind a filter the library makes no calls for it but those
 * that the loader has made, so its number may be a stream's for a moment; nobody can write into it.
 */
static inline int iw_own_open_briefly(const char *path)
{
	return (int)iw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0,
			       0);
}

/*
 * openat(2), without libc's, which is a cancellation point. @mode: of a file that is made. The
 * number is no stream's; a negative errno on failure.
 */
static inline int iw_own_open(int folder, const char *path, int flags, unsigned mode)
{
	flags |= O_CLOEXEC | O_NOCTTY;
	return iw_own_fd(
		(int)iw_syscall(SYS_openat, folder, (long)path, flags, mode, 0, 0));
}

#endif
