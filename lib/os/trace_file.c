/* SPDX-License-Identifier: MIT */
/* System calls of our own, as in file.c: libc's open() and write() are cancellation points. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/trace_file.h"

#define CHUNK_BYTES 4096

static int write_newlines(int fd, size_t bytes)
{
	char chunk[CHUNK_BYTES];

	memset(chunk, '\n', sizeof(chunk));
	while (bytes) {
		long n = syscall(SYS_write, fd, chunk,
				 bytes < sizeof(chunk) ? bytes : sizeof(chunk));

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes -= n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

static int map(struct iw_trace_file *t, int fd, size_t bytes)
{
	int rights = PROT_READ | PROT_WRITE;
	void *text = mmap(NULL, bytes, rights, MAP_SHARED, fd, 0), *used;

	if (text == MAP_FAILED)
		return -errno;
	used = mmap(NULL, sizeof(*t->used), rights, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (used == MAP_FAILED) {
		int r = -errno;

		(void)munmap(text, bytes);
		return r;
	}
	*t = (struct iw_trace_file){ .text = text, .used = used };
	return 0;
}

int iw_trace_file_create(struct iw_trace_file *t, const char *path, size_t bytes)
{
	int saved_errno = errno, r;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path,
			      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			      S_IRUSR | S_IWUSR);

	if (fd < 0) {
		r = -errno;
	} else {
		r = write_newlines(fd, bytes);
		if (!r)
			r = map(t, fd, bytes);
		if (r)
			(void)unlink(path);
		(void)syscall(SYS_close, fd);
	}
	errno = saved_errno;
	return r;
}
