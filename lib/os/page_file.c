/* SPDX-License-Identifier: MIT */
/* System calls of our own where libc's functions are cancellation points, as in file.c. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/page_file.h"
#include "os/shared_file.h"

/* In so many PID namespaces that share the folder a process may have the same number. */
#define NAMESAKES 8

#define LOCK 0

static long open_at(int folder, const char *name, int flags)
{
	return syscall(SYS_openat, folder, name, flags | O_CLOEXEC | O_NOCTTY,
		       S_IRUSR | S_IWUSR);
}

/* Nobody else may put something into it, or see what is there. A descriptor, or -errno. */
static int open_folder(const char *folder)
{
	struct stat st;
	long fd;

	if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
		return -errno;
	fd = open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstat((int)fd, &st) == 0 && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IRWXG | S_IRWXO)))
		return (int)fd;
	iw_shared_file_close((int)fd);
	return -EPERM;
}

static int make(struct iw_page_file *f, int folder, uint64_t bytes)
{
	long fd = open_at(folder, ".", O_RDWR | O_TMPFILE);
	int r;

	if (fd < 0)
		return -errno;
	r = iw_shared_file_lock((int)fd, LOCK);
	if (!r)
		r = iw_shared_file_set_size((int)fd, bytes);
	if (r)
		iw_shared_file_close((int)fd);
	else
		f->fd = (int)fd;
	return r;
}

int iw_page_file_make(struct iw_page_file *f, const char *folder, uint64_t bytes)
{
	int saved_errno = errno;
	int fd = open_folder(folder), r = fd;

	if (fd >= 0) {
		r = make(f, fd, bytes);
		iw_shared_file_close(fd);
	}
	if (!r &&
	    snprintf(f->path, sizeof(f->path), "%s", folder) >= (int)sizeof(f->path)) {
		iw_shared_file_close(f->fd);
		r = -ENAMETOOLONG;
	}
	errno = saved_errno;
	return r;
}

/* True: there was one, and its process is dead. */
static bool removed_stale(const char *path)
{
	long fd = open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	bool stale = fd >= 0 && iw_shared_file_lock_is_free((int)fd, LOCK);

	if (fd >= 0)
		iw_shared_file_close((int)fd);
	return stale && unlink(path) == 0;
}

/* 0, or -errno. */
static int link_as(int fd, const char *path)
{
	char from[32];
	int r;

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	do
		r = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0
										   : -errno;
	while (r == -EEXIST && removed_stale(path));
	return r;
}

int iw_page_file_publish(struct iw_page_file *f)
{
	int saved_errno = errno, r = -EEXIST;
	size_t length = strlen(f->path), room = sizeof(f->path) - length;

	for (unsigned i = 0; i < NAMESAKES && r == -EEXIST; i++) {
		char *end = f->path + length;

		if (snprintf(end, room, i ? "/%d.%u" : "/%d", (int)getpid(), i) >=
		    (int)room)
			r = -ENAMETOOLONG;
		else
			r = link_as(f->fd, f->path);
	}
	if (r)
		f->path[0] = '\0';
	errno = saved_errno;
	return r;
}

void iw_page_file_close(struct iw_page_file *f)
{
	iw_shared_file_close(f->fd);
	f->fd = -1;
}

void iw_page_file_remove(const struct iw_page_file *f)
{
	int saved_errno = errno;

	if (f->path[0])
		(void)unlink(f->path);
	errno = saved_errno;
}

bool iw_page_file_after_fork(void (*in_child)(void))
{
	return pthread_atfork(NULL, NULL, in_child) == 0;
}
