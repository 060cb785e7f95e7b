/* SPDX-License-Identifier: MIT */
/* Files that others have made: what is opened, and what is read of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "../tools/common/foreign_file.h"

#define MIB (UINT64_C(1) << 20)

static char folder[] = "/tmp/foreign-file-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[64];

	assert_true(snprintf(path, sizeof(path), "%s/%s", folder, name) <
		    (int)sizeof(path));
	return path;
}

static int open_it(const char *path)
{
	return foreign_file_open(AT_FDCWD, path, 0, NULL);
}

/* The kernel counts every open, however short; that a device is opened may do something. */
static void test_only_regular_files_are_opened(void **state)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char event[512];
	int fd;

	(void)state;
	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	assert_true(inotify_add_watch(watch, in_folder("pipe"), IN_OPEN) >= 0);
	assert_int_equal(open_it(in_folder("pipe")), -EINVAL);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(open_it("/dev/null"), -EINVAL);
	assert_int_equal(open_it(folder), -EINVAL);
	assert_int_equal(open_it("/proc/self/status"), -EINVAL);
	assert_int_equal(open_it("/no/such"), -ENOENT);
	fd = foreign_file_open_any("/proc/self/status");
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(watch), 0);
}

static void test_links(void **state)
{
	char link[64];
	struct stat st;
	int fd;

	(void)state;
	strcpy(link, in_folder("link"));
	assert_int_equal(symlink(in_folder("file"), link), 0);
	fd = open(in_folder("file"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(close(fd), 0);
	fd = foreign_file_open(AT_FDCWD, link, 0, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(close(fd), 0);
	/* The link itself is no regular file. */
	assert_int_equal(foreign_file_open(AT_FDCWD, link, O_NOFOLLOW, NULL), -EINVAL);
}

static int file_of(uint64_t bytes)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

static void test_a_copy(void **state)
{
	int fd = file_of(10000);
	size_t bytes = 0;
	char *copy;

	(void)state;
	assert_int_equal(pwrite(fd, "begin", 5, 0), 5);
	assert_int_equal(pwrite(fd, "end", 3, 9997), 3);
	copy = foreign_file_copy(fd, 10000, &bytes);
	assert_non_null(copy);
	assert_int_equal(bytes, 10000);
	/* What the file becomes is no matter any more. */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_memory_equal(copy, "begin\0", 6);
	assert_memory_equal(copy + 9996, "\0end", 4);
	foreign_file_free(copy, bytes);
	assert_null(foreign_file_copy(fd, 10000, &bytes));
	assert_int_equal(close(fd), 0);
}

static void test_a_file_that_is_too_large(void **state)
{
	int fd = file_of(10001);
	size_t bytes = 0;

	(void)state;
	assert_null(foreign_file_copy(fd, 10000, &bytes));
	assert_int_equal(close(fd), 0);
}

static uint64_t memory(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return (uint64_t)u.ru_maxrss * 1024;
}

/* Holes cost their owner nothing, so they must not cost the reader anything. */
static void test_holes(void **state)
{
	uint64_t before = memory();
	int fd = file_of(256 * MIB);
	size_t bytes = 0;
	char *copy;

	(void)state;
	assert_int_equal(pwrite(fd, "middle", 6, 128 * MIB), 6);
	copy = foreign_file_copy(fd, 256 * MIB, &bytes);
	assert_non_null(copy);
	assert_memory_equal(copy + 128 * MIB, "middle", 6);
	assert_true(memory() - before < 64 * MIB);
	foreign_file_free(copy, bytes);
	assert_int_equal(close(fd), 0);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(in_folder("pipe"));
	(void)unlink(in_folder("link"));
	(void)unlink(in_folder("file"));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_regular_files_are_opened),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_a_copy),
		cmocka_unit_test(test_a_file_that_is_too_large),
		cmocka_unit_test(test_holes),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
