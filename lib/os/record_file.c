/* SPDX-License-Identifier: MIT */
/* System calls of our own, as in file.c: libc's open() and write() are cancellation points. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/file_limit.h"
#include "os/own_fd.h"
#include "os/record_file.h"
#include "os/syscall.h"

/* How often to ask for a file that another process has. */
#define TRIES  200
#define TRY_NS 1000000

static int open_path(const char *path, int flags)
{
	return iw_own_open(AT_FDCWD, path, flags | O_RDWR | O_NOFOLLOW | O_NONBLOCK,
			   S_IRUSR | S_IWUSR);
}

/* To close it would not let others have it: the mapping holds it too. */
static void close_it(struct iw_record_file *f)
{
	(void)flock(f->fd, LOCK_UN);
	(void)IW_SYS(SYS_close, f->fd);
	f->fd = -1;
}

static int write_zeros(int fd, uint64_t at, size_t bytes)
{
	static const char zeros[4096];

	if (!iw_file_may_have(at + bytes))
		return -EFBIG;
	while (bytes) {
		long n = IW_SYS(SYS_pwrite64, fd, zeros,
				bytes < sizeof(zeros) ? bytes : sizeof(zeros), at);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : (uint64_t)n;
		bytes -= n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

/*
 * Whoever has it writes 72 KiB, unless it was stopped in the middle. flock(2) is no cancellation
 * point.
 */
static int lock(int fd, unsigned tries)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };

	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK || !--tries)
			return -errno;
		(void)IW_SYS(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return 0;
}

static int look_at(struct iw_record_file *f)
{
	struct stat st;

	if (fstat(f->fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EEXIST;
	if (st.st_uid != geteuid())
		return -EPERM;
	f->bytes = (uint64_t)st.st_size;
	f->device = st.st_dev;
	f->inode = st.st_ino;
	return 0;
}

static int begin(struct iw_record_file *f, size_t bytes)
{
	int r = lock(f->fd, TRIES);

	if (!r)
		r = look_at(f);
	if (r || f->bytes)
		return r;
	f->empty = true;
	f->bytes = bytes;
	return write_zeros(f->fd, 0, bytes);
}

/* Made or found. */
static int open_or_make(struct iw_record_file *f)
{
	f->fd = open_path(f->path, O_CREAT | O_EXCL);
	f->made = f->fd >= 0;
	if (f->fd == -EEXIST)
		f->fd = open_path(f->path, 0);
	return f->fd < 0 ? f->fd : 0;
}

int iw_record_file_open(struct iw_record_file *f, const char *path, size_t bytes)
{
	int saved_errno = errno, r = -ENAMETOOLONG;
	size_t length = strlen(path);

	*f = (struct iw_record_file){ .fd = -1 };
	if (length < sizeof(f->path)) {
		memcpy(f->path, path, length + 1);
		r = open_or_make(f);
		if (!r)
			r = begin(f, bytes);
	}
	if (r && f->fd >= 0)
		iw_record_file_abandon(f);
	errno = saved_errno;
	return r;
}

void *iw_record_file_map(const struct iw_record_file *f, size_t bytes)
{
	int saved_errno = errno;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);

	errno = saved_errno;
	return memory == MAP_FAILED ? NULL : memory;
}

void iw_record_file_unmap(void *memory, size_t bytes)
{
	int saved_errno = errno;

	(void)munmap(memory, bytes);
	errno = saved_errno;
}

void iw_record_file_release(struct iw_record_file *f)
{
	int saved_errno = errno;

	close_it(f);
	errno = saved_errno;
}

/* Another process may have begun it while this one asked for it. */
void iw_record_file_abandon(struct iw_record_file *f)
{
	int saved_errno = errno;

	if (f->made && f->empty)
		(void)unlink(f->path);
	close_it(f);
	errno = saved_errno;
}

/* Of what may be otherwise the next time: -EAGAIN. */
static int why_not_again(int r)
{
	switch (r) {
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -EINTR:
		return -EAGAIN;
	case -ENOENT:
	case -ENOTDIR:
	case -ELOOP:
		return -ESTALE;
	default:
		return r;
	}
}

/* The path may lead to another file by now, or to nothing. */
static int reopen(struct iw_record_file *f)
{
	uint64_t device = f->device, inode = f->inode;
	int r;

	f->fd = open_path(f->path, 0);
	if (f->fd < 0)
		return why_not_again(f->fd);
	r = lock(f->fd, 1);
	if (!r)
		r = look_at(f);
	if (!r && (f->device != device || f->inode != inode))
		r = -ESTALE;
	f->device = device;
	f->inode = inode;
	if (r)
		close_it(f);
	return r;
}

int iw_record_file_open_again(struct iw_record_file *f)
{
	int saved_errno = errno, r = reopen(f);

	errno = saved_errno;
	return r;
}

int iw_record_file_extend(const struct iw_record_file *f, uint64_t at, size_t bytes)
{
	int saved_errno = errno, r = write_zeros(f->fd, at, bytes);

	errno = saved_errno;
	return r;
}

const char *iw_record_file_error(int error)
{
	const char *text = error == ELOOP ? "it is a link" : strerrordesc_np(error);

	return text ? text : "unknown error";
}
