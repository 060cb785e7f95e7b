/* SPDX-License-Identifier: MIT */
/* System calls of our own where libc's functions are cancellation points, as in file.c. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/calls.h"
#include "os/file_limit.h"
#include "os/own_fd.h"
#include "os/shared_file.h"
#include "os/syscall.h"

/* Of the first lock: a quarter of what an offset can be. */
#define LOCKS_AT (INT64_C(1) << 61)

/* A signal that nobody asks a file for. */
#define MARK SIGWINCH

static int control(int fd, int command, intptr_t argument)
{
	int saved_errno = errno;
	long r = IW_SYS(SYS_fcntl, fd, command, argument);
	int result = r < 0 ? -errno : (int)r;

	errno = saved_errno;
	return result;
}

int iw_shared_file_size(int fd, uint64_t *bytes)
{
	int saved_errno = errno;
	int flags = control(fd, F_GETFL, 0);
	struct stat st;

	if (flags < 0)
		return flags;
	if (fstat(fd, &st) != 0) {
		int r = -errno;

		errno = saved_errno;
		return r;
	}
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return -EINVAL;
	if ((flags & O_ACCMODE) != O_RDWR)
		return -EACCES;
	*bytes = (uint64_t)st.st_size;
	return 0;
}

static int allocate(int fd, off_t bytes)
{
	long r;

	do
		r = IW_SYS(SYS_fallocate, fd, 0, (off_t)0, bytes);
	while (r != 0 && errno == EINTR);
	return r == 0 ? 0 : -errno;
}

/*
 * In a file system that can be full it has to have room now, or there would be a SIGBUS later. A
 * memfd is in one without a limit, where memory comes as it is touched: to ask for it at once would
 * have the kernel kill processes for a size that is too large.
 */
static int set_size(int fd, off_t bytes)
{
	struct statfs fs;
	int r = -EOPNOTSUPP;

	if (!iw_file_may_have((uint64_t)bytes))
		return -EFBIG;
	if (ftruncate(fd, bytes) != 0)
		return -errno;
	if (bytes && fstatfs(fd, &fs) == 0 && fs.f_blocks)
		r = allocate(fd, bytes);
	return r == -EOPNOTSUPP || r == -ENOSYS ? 0 : r;
}

int iw_shared_file_set_size(int fd, uint64_t bytes)
{
	int saved_errno = errno;
	int r = bytes > INT64_MAX ? -EFBIG : set_size(fd, (off_t)bytes);

	errno = saved_errno;
	return r;
}

void iw_shared_file_seal(int fd)
{
	(void)control(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
}

int iw_shared_file_open_anew(int fd)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return iw_own_open(AT_FDCWD, path, O_RDWR, 0);
}

/* Looked at before it is opened: to open a device may be to do something. */
static int open_of(const char *path, uint64_t bytes)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != bytes)
		return -EINVAL;
	return iw_own_open(AT_FDCWD, path, O_RDWR | O_NONBLOCK, 0);
}

int iw_shared_file_open_of(const char *path, uint64_t bytes)
{
	int saved_errno = errno;
	int r = iw_call_allowed(IW_CALL_FILES) ? open_of(path, bytes) : -EACCES;

	errno = saved_errno;
	return r;
}

int iw_shared_file_keep(int fd)
{
	return control(fd, F_DUPFD_CLOEXEC, IW_OWN_FD_LEAST);
}

int iw_shared_file_mark(int fd)
{
	return control(fd, F_SETSIG, MARK);
}

bool iw_shared_file_is_marked(int fd)
{
	return control(fd, F_GETSIG, 0) == MARK;
}

bool iw_shared_file_identify(int fd, struct iw_shared_file_id *id)
{
	int saved_errno = errno;
	struct stat st;
	bool open = fstat(fd, &st) == 0;

	if (open)
		*id = (struct iw_shared_file_id){ st.st_dev, st.st_ino };
	errno = saved_errno;
	return open;
}

void iw_shared_file_close(int fd)
{
	int saved_errno = errno;

	(void)IW_SYS(SYS_close, fd);
	errno = saved_errno;
}

static struct flock lock_number(short type, uint32_t number)
{
	return (struct flock){ .l_type = type,
			       .l_whence = SEEK_SET,
			       .l_start = LOCKS_AT + number,
			       .l_len = 1 };
}

int iw_shared_file_lock(int fd, uint32_t number)
{
	struct flock lock = lock_number(F_WRLCK, number);
	int r = control(fd, F_OFD_SETLK, (intptr_t)&lock);

	return r == -EACCES ? -EAGAIN : r;
}

void iw_shared_file_unlock(int fd, uint32_t number)
{
	struct flock lock = lock_number(F_UNLCK, number);

	(void)control(fd, F_OFD_SETLK, (intptr_t)&lock);
}

bool iw_shared_file_lock_is_free(int fd, uint32_t number)
{
	struct flock lock = lock_number(F_WRLCK, number);

	return control(fd, F_OFD_GETLK, (intptr_t)&lock) == 0 && lock.l_type == F_UNLCK;
}

/* The lock @number of a description that only a mapping refers to. 1: it is there; or -errno. */
static int lock_by_mapping(int fd, uint32_t number)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int own = iw_shared_file_open_anew(fd), r;
	void *memory;

	if (own < 0)
		return own;
	memory = iw_shared_file_map(own, bytes, false);
	r = memory ? iw_shared_file_lock(own, number) : -ENOMEM;
	iw_shared_file_close(own);
	if (!r)
		r = !iw_shared_file_lock_is_free(fd, number);
	if (memory)
		iw_shared_file_unmap(memory, bytes);
	return r;
}

int iw_shared_file_mapping_keeps_lock(int fd, uint32_t number)
{
	int r = lock_by_mapping(fd, number);

	return r == -EAGAIN ? 0 : r;
}

void *iw_shared_file_map(int fd, size_t bytes, bool inherited)
{
	int saved_errno = errno;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		p = NULL;
	} else if (!inherited && madvise(p, bytes, MADV_DONTFORK) != 0) {
		(void)munmap(p, bytes);
		p = NULL;
	}
	errno = saved_errno;
	return p;
}

bool iw_shared_file_lay(int fd, uint64_t offset, void *memory, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	int saved_errno = errno;
	void *p = MAP_FAILED;

	if (!(((uintptr_t)memory | offset | bytes) & (page - 1)))
		p = mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			 (off_t)offset);
	errno = saved_errno;
	return p != MAP_FAILED;
}

void iw_shared_file_unmap(void *memory, size_t bytes)
{
	int saved_errno = errno;

	(void)munmap(memory, bytes);
	errno = saved_errno;
}
