/* SPDX-License-Identifier: MIT */
/* System calls of our own: libc's open(), read(), write() and close() are cancellation points,
 * and no function of the library may be one. */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/file.h"

int iw_file_read(const char *path, char *text, size_t size)
{
	int saved_errno = errno;
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? -1 : syscall(SYS_read, fd, text, size - 1);
	int result = n < 0 ? -errno : (int)n;

	if (fd >= 0)
		(void)syscall(SYS_close, fd);
	text[n < 0 ? 0 : n] = '\0';
	errno = saved_errno;
	return result;
}

void iw_file_complain(const char *text, size_t size)
{
	int saved_errno = errno;

	(void)syscall(SYS_write, STDERR_FILENO, text, size);
	errno = saved_errno;
}
