/* SPDX-License-Identifier: MIT */
#include "foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

/* In which steps a file is read that changes while it is looked at. */
#define STEP 4096

/* @place, opened with O_PATH, is no open file yet. */
static int open_for_reading(int place)
{
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* To read a file of the kernel's may be to do something. */
static bool is_of_kernel(int place)
{
	static const unsigned long kinds[] = {
		PROC_SUPER_MAGIC,   SYSFS_MAGIC,         DEBUGFS_MAGIC,    TRACEFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, SECURITYFS_MAGIC, BPF_FS_MAGIC,
		PSTOREFS_MAGIC,     EFIVARFS_MAGIC,      BINFMTFS_MAGIC,   SELINUX_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(place, &fs) != 0)
		return true;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((unsigned long)fs.f_type == kinds[i])
			return true;
	return false;
}

static int open_regular(int folder, const char *path, int flags, struct stat *st,
			bool kernels_too)
{
	int place = openat(folder, path, O_PATH | O_CLOEXEC | flags), r = -EINVAL;
	struct stat own;

	if (place < 0)
		return -errno;
	st = st ? st : &own;
	if (fstat(place, st) != 0)
		r = -errno;
	else if (S_ISREG(st->st_mode) && (kernels_too || !is_of_kernel(place)))
		r = open_for_reading(place);
	(void)close(place);
	return r;
}

int foreign_file_open(int folder, const char *path, int flags, struct stat *st)
{
	return open_regular(folder, path, flags, st, false);
}

int foreign_file_open_any(const char *path)
{
	return open_regular(AT_FDCWD, path, 0, NULL, true);
}

/* Where the next data of the file begin and end; false: there are none. */
static bool next_data(int fd, off_t size, off_t *begin, off_t *end)
{
	off_t data = lseek(fd, *end, SEEK_DATA), hole;

	if (data < 0 && errno == ENXIO)
		return false;
	/* A file system that knows of no holes. */
	*begin = data < 0 ? *end : data;
	hole = data < 0 ? size : lseek(fd, data, SEEK_HOLE);
	if (hole < *begin + STEP)
		hole = *begin + STEP;
	*end = hole < size ? hole : size;
	return *begin < size;
}

static void read_part(int fd, char *to, off_t begin, off_t end)
{
	while (begin < end) {
		ssize_t n = pread(fd, to + begin, (size_t)(end - begin), begin);

		if (n <= 0)
			return;
		begin += n;
	}
}

void *foreign_file_copy(int fd, uint64_t most, size_t *bytes)
{
	off_t begin = 0, end = 0;
	struct stat st, after;
	char *copy;

	if (fstat(fd, &st) != 0 || st.st_size <= 0 || (uint64_t)st.st_size > most)
		return NULL;
	*bytes = (size_t)st.st_size;
	copy = mmap(NULL, *bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (copy == MAP_FAILED)
		return NULL;
	while (end < st.st_size && next_data(fd, st.st_size, &begin, &end))
		read_part(fd, copy, begin, end);
	if (fstat(fd, &after) == 0 && after.st_size >= st.st_size)
		return copy;
	foreign_file_free(copy, *bytes);
	return NULL;
}

void foreign_file_free(const void *copy, size_t bytes)
{
	if (copy)
		(void)munmap((void *)copy, bytes);
}
