/* SPDX-License-Identifier: MIT */
/* System calls of our own where libc's functions are cancellation points, as in file.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/calls.h"
#include "os/fork.h"
#include "os/own_fd.h"
#include "os/page_file.h"
#include "os/shared_file.h"
#include "os/syscall.h"

/* In so many PID namespaces that share the folder a process may have the same number. */
#define NAMESAKES 8

/*
 * About this many files are looked at each time for what the dead have left. One takes 2 us.
 */
#define SWEPT_MOST 256

#define LOCK 0

static int open_at(int folder, const char *name, int flags)
{
	return iw_own_open(folder, name, flags, S_IRUSR | S_IWUSR);
}

static int open_folder_at(const char *folder)
{
	return open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/* Nobody else may put something into it, or see what is there. A descriptor, or -errno. */
static int open_folder(const char *folder)
{
	int fd = open_folder_at(folder);
	struct stat st;

	if (fd == -ENOENT) {
		if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
			return -errno;
		fd = open_folder_at(folder);
	}
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IRWXG | S_IRWXO)))
		return fd;
	iw_shared_file_close(fd);
	return -EPERM;
}

/* What has the name is the file behind @fd. */
static bool is_named(int folder, const char *name, int fd)
{
	struct iw_shared_file_id id;
	struct stat st;

	return iw_shared_file_identify(fd, &id) &&
	       fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == id.device && st.st_ino == id.inode;
}

/*
 * True: there was one, and its process is dead. A process that removes a file has its lock, so
 * between look and removal the name does not pass on to another's file.
 */
static bool removed_stale(int folder, const char *name)
{
	int fd = open_at(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
	bool removed;

	if (fd < 0)
		return false;
	removed = iw_shared_file_lock(fd, LOCK) == 0 && is_named(folder, name, fd) &&
		  unlinkat(folder, name, 0) == 0;
	iw_shared_file_close(fd);
	return removed;
}

/* Names of pages begin with a digit. Returns how many there were. */
static unsigned sweep_names(int folder, const char *names, long bytes)
{
	const struct dirent64 *d;
	unsigned n = 0;

	for (long at = 0; at < bytes; at += d->d_reclen) {
		d = (const void *)(names + at);
		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		(void)removed_stale(folder, d->d_name);
		n++;
	}
	return n;
}

static void sweep(int folder)
{
	_Alignas(struct dirent64) char names[1024] = { 0 };
	unsigned n = 0;
	long bytes;

	do {
		bytes = IW_SYS(SYS_getdents64, folder, names, sizeof(names));
		n += bytes > 0 ? sweep_names(folder, names, bytes) : 0;
	} while (bytes > 0 && n < SWEPT_MOST);
}

void iw_page_file_sweep(const char *folder)
{
	int saved_errno = errno;
	int fd = iw_call_allowed(IW_CALL_FILES) ? open_folder(folder) : -1;

	if (fd >= 0) {
		sweep(fd);
		iw_shared_file_close(fd);
	}
	errno = saved_errno;
}

static int make(struct iw_page_file *f, int folder, uint64_t bytes)
{
	int fd = open_at(folder, ".", O_RDWR | O_TMPFILE), r;

	if (fd < 0)
		return fd;
	r = iw_shared_file_lock(fd, LOCK);
	if (!r)
		r = iw_shared_file_set_size(fd, bytes);
	if (r)
		iw_shared_file_close(fd);
	else
		f->fd = fd;
	return r;
}

int iw_page_file_make(struct iw_page_file *f, const char *folder, uint64_t bytes)
{
	int saved_errno = errno;
	int fd, r;

	if (!iw_call_allowed(IW_CALL_FILES))
		return -ENOSYS;
	r = fd = open_folder(folder);
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

/* 0, or -errno. */
static int link_as(int fd, const char *path)
{
	char from[32];
	int r;

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	do
		r = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0
										   : -errno;
	while (r == -EEXIST && removed_stale(AT_FDCWD, path));
	return r;
}

/*
 * From here on the descriptor is of another description, and only mappings keep the one that has
 * the lock. 0, or -errno.
 */
static int leave_to_mappings(struct iw_page_file *f)
{
	int other = iw_shared_file_open_anew(f->fd);

	if (other < 0)
		return other;
	iw_shared_file_close(f->fd);
	f->fd = other;
	return iw_shared_file_lock_is_free(other, LOCK) ? -EOPNOTSUPP : 0;
}

static int name_it(struct iw_page_file *f)
{
	int r = -EEXIST;
	size_t length = strlen(f->path), room = sizeof(f->path) - length;

	for (unsigned i = 0; i < NAMESAKES && r == -EEXIST; i++) {
		char *end = f->path + length;

		if (snprintf(end, room, i ? "/%d.%u" : "/%d", (int)getpid(), i) >=
		    (int)room)
			r = -ENAMETOOLONG;
		else
			r = link_as(f->fd, f->path);
	}
	return r;
}

int iw_page_file_publish(struct iw_page_file *f)
{
	int saved_errno = errno, r = leave_to_mappings(f);

	if (!r)
		r = name_it(f);
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

	if (f->path[0] && iw_call_allowed(IW_CALL_FILES))
		(void)unlink(f->path);
	errno = saved_errno;
}

bool iw_page_file_after_fork(void (*in_child)(void))
{
	static struct iw_fork_hooks hooks;

	hooks.in_child = in_child;
	return iw_fork_hook(IW_FORK_PAGE, &hooks);
}
