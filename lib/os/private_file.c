/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/calls.h"
#include "os/file_limit.h"
#include "os/own_fd.h"
#include "os/private_file.h"
#include "os/syscall.h"
#include "os/worker.h"

static int judge(int fd, size_t bytes_most)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	return st.st_size < 0 || (size_t)st.st_size > bytes_most ? -EFBIG : 0;
}

/*
 * System calls of our own, as in file.c: this runs on the way to a wait, and libc's functions
 * are cancellation points. O_NONBLOCK: opening a pipe that nobody writes to would not return.
 */
int iw_private_file_open(const char *path, size_t bytes_most)
{
	int saved_errno = errno;
	int fd, r;

	if (!iw_call_allowed(IW_CALL_FILES))
		return -EACCES;
	fd = iw_own_open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	r = fd < 0 ? fd : judge(fd, bytes_most);
	if (fd >= 0 && r != 0)
		(void)IW_SYS(SYS_close, fd);
	errno = saved_errno;
	return r ? r : fd;
}

int iw_private_file_read(int fd, char *bytes, size_t size)
{
	int saved_errno = errno;
	long n;

	do
		n = IW_SYS(SYS_read, fd, bytes, size < INT_MAX ? size : INT_MAX);
	while (n < 0 && errno == EINTR);
	n = n < 0 ? -errno : n;
	errno = saved_errno;
	return (int)n;
}

void iw_private_file_close(int fd)
{
	int saved_errno = errno;

	(void)IW_SYS(SYS_close, fd);
	errno = saved_errno;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n < 0 ? 0 : n;
		size -= n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

/* Flushed before it gets its name, so that a crash leaves no empty file under that name. */
static int write_and_rename(int fd, const char *temporary, const char *path,
			    const char *bytes, size_t size)
{
	int r = write_all(fd, bytes, size);

	while (!r && fsync(fd) != 0)
		r = errno == EINTR ? 0 : -errno;
	if (close(fd) != 0 && !r)
		r = -errno;
	if (!r && rename(temporary, path) != 0)
		r = -errno;
	if (r)
		(void)unlink(temporary);
	return r;
}

int iw_private_file_write(const char *path, const char *bytes, size_t size)
{
	char temporary[PATH_MAX];
	int n = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	int saved_errno = errno, cancel, fd, r;

	if (n < 0 || (size_t)n >= sizeof(temporary))
		return -ENAMETOOLONG;
	if (!iw_file_may_have(size))
		return -EFBIG;
	cancel = iw_cancel_off();
	/* Made with mode 0600, and never one that was there before. */
	fd = mkostemp(temporary, O_CLOEXEC);
	r = fd < 0 ? -errno : iw_own_fd(fd);
	if (r >= 0)
		r = write_and_rename(r, temporary, path, bytes, size);
	else if (fd >= 0)
		(void)unlink(temporary);
	iw_cancel_restore(cancel);
	errno = saved_errno;
	return r;
}

/* Cut the last part off a path; false if there is none to cut. */
static bool cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

int iw_private_file_make_room(const char *path)
{
	char parent[PATH_MAX], folder[PATH_MAX];
	int n = snprintf(folder, sizeof(folder), "%s", path);
	int saved_errno = errno;
	int r = 0;

	if (n < 0 || (size_t)n >= sizeof(folder))
		return -ENAMETOOLONG;
	if (!cut(folder))
		return 0;
	memcpy(parent, folder, sizeof(parent));
	if (cut(parent))
		(void)mkdir(parent, S_IRWXU);
	if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
		r = -errno;
	errno = saved_errno;
	return r;
}
