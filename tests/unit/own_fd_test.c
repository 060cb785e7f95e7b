/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that the library opens for itself, in a program that has closed its standard streams:
 * none of them is taken for a stream, not even for a moment.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/own_fd.h"
#include "os/page_file.h"
#include "os/record_file.h"
#include "os/shared_file.h"

static char folder[] = "/tmp/own_fd_test.XXXXXX";

static void close_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		(void)close(fd);
}

static bool has_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return true;
	return false;
}

static void of_a_page(void)
{
	struct iw_page_file f;

	close_streams();
	CHECK_EQ(iw_page_file_make(&f, folder, 4096), 0);
	CHECK(f.fd >= 3 && !has_streams());
	iw_page_file_close(&f);
}

static void of_a_record(void)
{
	struct iw_record_file f;
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/record", folder);
	close_streams();
	CHECK_EQ(iw_record_file_open(&f, path, 4096), 0);
	CHECK(f.fd >= 3 && !has_streams());
	iw_record_file_release(&f);
	CHECK_EQ(iw_record_file_open_again(&f), 0);
	CHECK(f.fd >= 3 && !has_streams());
	iw_record_file_release(&f);
	CHECK(unlink(path) == 0);
}

static void of_shared_memory(void)
{
	int fd = memfd_create("own_fd_test", MFD_CLOEXEC), high, anew;
	char path[32];

	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	CHECK(high >= 10 && close(fd) == 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", high);
	close_streams();
	anew = iw_shared_file_open_anew(high);
	CHECK(anew >= 3 && !has_streams());
	iw_shared_file_close(anew);
	anew = iw_shared_file_open_of(path, 4096);
	CHECK(anew >= 3 && !has_streams());
}

/* What is none is passed on, and what stands above the streams stays where it is. */
static void as_it_is(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 5);

	CHECK_EQ(iw_own_fd(-ENFILE), -ENFILE);
	CHECK_EQ(iw_own_fd(fd), fd);
	CHECK(close(fd) == 0);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(of_a_page),
		CHILD_TEST(of_a_record),
		CHILD_TEST(of_shared_memory),
		CHILD_TEST(as_it_is),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
