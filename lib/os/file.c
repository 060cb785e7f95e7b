/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "os/file.h"

int iw_file_read(const char *path, char *text, size_t size)
{
	int saved_errno = errno;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	int result = n < 0 ? -errno : (int)n;

	if (fd >= 0)
		(void)close(fd);
	text[n < 0 ? 0 : n] = '\0';
	errno = saved_errno;
	return result;
}
