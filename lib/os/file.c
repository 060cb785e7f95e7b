/* SPDX-License-Identifier: MIT */
/* System calls of our own: libc's open(), read(), write() and close() are cancellation points,
 * and no function of the library may be one. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/file.h"

bool iw_file_join(char *path, size_t size, const char *head, const char *tail)
{
	size_t before = strlen(head), behind = strlen(tail);
	bool fits = before + behind < size;

	path[0] = '\0';
	if (fits) {
		memcpy(path, head, before);
		memcpy(path + before, tail, behind + 1);
	}
	return fits;
}

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

bool iw_file_exists(const char *path)
{
	int saved_errno = errno;
	bool exists = access(path, F_OK) == 0;

	errno = saved_errno;
	return exists;
}

void iw_file_complain(const char *text, size_t size)
{
	int saved_errno = errno;

	(void)syscall(SYS_write, STDERR_FILENO, text, size);
	errno = saved_errno;
}
