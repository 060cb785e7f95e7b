/* SPDX-License-Identifier: MIT */
/* preload/fd_read.c and fd.c over the kernel that there is: how many calls a read becomes. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "after_unlock.h"
#include "common/cmocka_all.h"
#include "fd.h"
#include "os/descriptor.h"
#include "original.h"
#include "signals.h"

#define READS 200

/* Of READS calls: one in 64 asks what the descriptor is, and whether it blocks. */
#define QUESTIONS (2 * (READS / 64 + 1))

/* Numbers so far apart share a place. */
#define APART 65536

/* No thread here leaves a wake for later. */
void iw_after_unlock_hurry(void)
{
}

_Thread_local struct handled iw_handled;

static unsigned reads, looks, stats, flags;

/* Also those of the library. */
int fstat(int fd, struct stat *st)
{
	stats++;
	return fstatat(fd, "", st, AT_EMPTY_PATH);
}

bool __real_iw_fd_nonblocking(int fd);
bool __wrap_iw_fd_nonblocking(int fd);
bool __wrap_iw_fd_nonblocking(int fd)
{
	flags++;
	return __real_iw_fd_nonblocking(fd);
}

static ssize_t count_read(int fd, void *to, size_t n)
{
	reads++;
	return syscall(SYS_read, fd, to, n);
}

static ssize_t count_preadv2(int fd, const struct iovec *parts, int n, off_t at, int how)
{
	looks++;
	return preadv2(fd, parts, n, at, how);
}

struct originals iw_originals = { .read = count_read,
				  .preadv2 = count_preadv2,
				  .found = { 1 } };

void iw_find_originals(void)
{
}

void iw_find_preadv2(void)
{
}

static int begin(void **state)
{
	(void)state;
	check_watchdog(60);
	iw_fd_wanted = true;
	return 0;
}

static void forget(void)
{
	reads = looks = stats = flags = 0;
}

static unsigned calls(void)
{
	return reads + looks + stats + flags;
}

/* READS times something comes, and is read into a buffer that is larger. */
static void read_all(int in, int out)
{
	static char buffer[1024];
	const uint64_t one = 1;

	forget();
	for (int i = 0; i < READS; i++) {
		assert_int_equal(write(out, &one, sizeof(one)), sizeof(one));
		assert_int_equal(read(in, buffer, sizeof(buffer)), sizeof(one));
	}
}

/* As event loops read what epoll_wait() has told them of: libuv's, for example. */
static void test_what_does_not_block_is_read_once(void **state)
{
	int event = eventfd(0, EFD_NONBLOCK), ends[2];

	(void)state;
	read_all(event, event);
	assert_in_range(calls(), READS, READS + QUESTIONS);
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	read_all(ends[0], ends[1]);
	assert_in_range(calls(), READS, READS + QUESTIONS);
	(void)close(event);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* A short read is a question whether it was a file, and no second read. */
static void test_what_blocks_is_read_once(void **state)
{
	int event = eventfd(0, 0);

	(void)state;
	read_all(event, event);
	assert_int_equal(reads + looks, READS);
	assert_in_range(stats + flags, 0, READS + QUESTIONS);
	(void)close(event);
}

static int move_to(int fd, int number)
{
	struct rlimit files;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	if (files.rlim_max <= (rlim_t)number)
		return -1;
	assert_int_equal(dup2(fd, number), number);
	(void)close(fd);
	return number;
}

static void test_high_numbers(void **state)
{
	static const int numbers[] = { 4095, 4096, 5000, 65535, 65536, 70000 };
	uint64_t count;

	(void)state;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int fd = move_to(eventfd(0, EFD_SEMAPHORE), numbers[i]);

		if (fd < 0)
			break;
		forget();
		assert_int_equal(eventfd_write(fd, READS), 0);
		for (int k = 0; k < READS; k++)
			assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
		assert_int_equal(looks, READS);
		assert_in_range(stats + flags, 1, QUESTIONS);
		(void)close(fd);
	}
}

/* What is known of one is not believed of the other. */
static void test_numbers_that_share_a_place(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	for (int i = 1; i < INT32_MAX / APART; i += 511) {
		int far = i * APART;

		iw_fd_note_kind(ends[0] + far, FD_NONBLOCKING);
		assert_true(iw_fd_was_nonblocking(ends[0] + far));
		assert_false(iw_fd_was_nonblocking(ends[0]));
		assert_int_equal(iw_fd_kind(ends[0]), FD_OTHER);
		assert_false(iw_fd_was_nonblocking(ends[0] + far));
		iw_fd_note_kind(ends[0], FD_ASKED);
		assert_int_equal(iw_fd_kind(ends[0]), FD_ASKED);
		assert_int_equal(iw_fd_kind(ends[0] + far), FD_NEVER);
	}
	assert_int_equal(iw_fd_kind(-1), FD_NEVER);
	assert_false(iw_fd_was_nonblocking(-1));
	iw_fd_note_kind(-1, FD_SOCKET);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* Believed for some calls, and asked again. */
static void test_a_number_becomes_another(void **state)
{
	int ends[2], event = eventfd(0, EFD_NONBLOCK);
	unsigned asked = 0;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(iw_fd_kind(ends[0]), FD_OTHER);
	assert_int_equal(dup2(event, ends[0]), ends[0]);
	while (iw_fd_kind(ends[0]) == FD_OTHER)
		asked++;
	assert_in_range(asked, 60, 64);
	assert_int_equal(iw_fd_kind(ends[0]), FD_NONBLOCKING);
	assert_true(iw_fd_was_nonblocking(ends[0]));
	(void)close(event);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_what_does_not_block_is_read_once, begin),
		cmocka_unit_test_setup(test_what_blocks_is_read_once, begin),
		cmocka_unit_test_setup(test_high_numbers, begin),
		cmocka_unit_test_setup(test_numbers_that_share_a_place, begin),
		cmocka_unit_test_setup(test_a_number_becomes_another, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
