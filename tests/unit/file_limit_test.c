/* SPDX-License-Identifier: MIT */
/*
 * A limit for the size of files, ulimit -f: what the library would make is refused, and the program
 * lives on. Where the limit is exceeded the kernel sends SIGXFSZ, which would end the test.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "os/page_file.h"
#include "os/private_file.h"

#define LIMIT 8192

static void limit(void)
{
	struct rlimit most = { LIMIT, LIMIT };

	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &most), 0);
}

static void make_channel(int fd, uint64_t capacity, int result)
{
	struct ipcwait_channel_params params = { .elem_size = 8, .capacity = capacity };
	struct ipcwait_channel *ch;

	errno = 4711;
	CHECK_EQ(ipcwait_channel_create_shared(fd, &params, &ch), result);
	CHECK_EQ(errno, 4711);
	if (!result)
		ipcwait_channel_destroy(ch);
}

static void a_channel(void)
{
	char path[] = "/tmp/file_limit_test.XXXXXX";
	int fd = memfd_create("file_limit_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int other = mkstemp(path);
	struct stat st;

	CHECK(fd >= 0 && other >= 0);
	CHECK_EQ(unlink(path), 0);
	limit();
	make_channel(fd, LIMIT / 8, -EFBIG);
	make_channel(other, LIMIT / 8, -EFBIG);
	CHECK_EQ(fstat(other, &st), 0);
	CHECK_EQ(st.st_size, 0);
	make_channel(fd, 4, 0);
	make_channel(other, 4, 0);
}

static void a_page(void)
{
	char folder[] = "/dev/shm/ipcwait.test.XXXXXX";
	struct iw_page_file f;

	CHECK(mkdtemp(folder) != NULL);
	limit();
	CHECK_EQ(iw_page_file_make(&f, folder, LIMIT + 4096), -EFBIG);
	CHECK_EQ(iw_page_file_make(&f, folder, LIMIT), 0);
	iw_page_file_close(&f);
	CHECK_EQ(rmdir(folder), 0);
}

static void a_saved_calibration(void)
{
	static const char text[LIMIT + 1];
	char folder[] = "/tmp/file_limit_test.XXXXXX", path[64];

	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(path, sizeof(path), "%s/saved", folder);
	limit();
	CHECK_EQ(iw_private_file_write(path, text, sizeof(text)), -EFBIG);
	CHECK_EQ(iw_private_file_write(path, text, LIMIT), 0);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(a_channel),
		CHILD_TEST(a_page),
		CHILD_TEST(a_saved_calibration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
