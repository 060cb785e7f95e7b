/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "os/eventfd.h"

int iw_eventfd_make(void)
{
	int saved_errno = errno, fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK), r;

	r = fd < 0 ? -errno : fd;
	errno = saved_errno;
	return r;
}

/* Fails only if it has been set 2^64 - 2 times since it was cleared, and so is readable. */
void iw_eventfd_set(int fd)
{
	const uint64_t one = 1;
	int saved_errno = errno;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
	errno = saved_errno;
}

/* Fails only if it is not readable. */
void iw_eventfd_clear(int fd)
{
	uint64_t count;
	int saved_errno = errno;
	ssize_t n = read(fd, &count, sizeof(count));

	(void)n;
	errno = saved_errno;
}

void iw_eventfd_close(int fd)
{
	int saved_errno = errno;

	(void)close(fd);
	errno = saved_errno;
}
