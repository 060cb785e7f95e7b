/* SPDX-License-Identifier: MIT */
/*
 * Who takes part in a channel between processes, by the kind of its file: `memfd`, or `overlay`, a
 * file in an overlayfs, where a mapping does not keep the lock that shows that a process lives.
 * Each part has a number, and there are 64: one that counts as living has its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "overlay.h"

#define PARTS 64
#define FORKS 100
#define PLACE "/mnt/overlay"

static bool on_overlay;

static int new_file(void)
{
	int fd;

	if (on_overlay) {
		CHECK(overlay_mount(PLACE));
		fd = open(PLACE "/channel", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} else {
		fd = memfd_create("channel_file_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	}
	CHECK(fd >= 0);
	return fd;
}

/* A file with a channel in which nobody takes part. */
static int new_channel(void)
{
	struct ipcwait_channel_params params = { .elem_size = sizeof(long), .capacity = 4 };
	struct ipcwait_channel *ch;
	int fd = new_file();

	CHECK_EQ(ipcwait_channel_create_shared(fd, &params, &ch), 0);
	ipcwait_channel_destroy(ch);
	return fd;
}

/* All that are left; returns how many. */
static unsigned attach_all(int fd, struct ipcwait_channel *part[PARTS])
{
	unsigned n = 0;
	int r = 0;

	while (!r && n < PARTS) {
		r = ipcwait_channel_attach(fd, &part[n]);
		n += !r;
	}
	CHECK(!r || r == -EUSERS);
	return n;
}

static void leave_all(struct ipcwait_channel *part[PARTS], unsigned n)
{
	while (n)
		ipcwait_channel_destroy(part[--n]);
}

static void all_numbers_are_free(int fd)
{
	struct ipcwait_channel *part[PARTS];

	CHECK_EQ(attach_all(fd, part), PARTS);
	leave_all(part, PARTS);
}

static void each_part_has_a_number(void)
{
	struct ipcwait_channel *part[PARTS], *one;
	int fd = new_channel();
	long sent = 17, received = 0;

	CHECK_EQ(attach_all(fd, part), PARTS);
	CHECK_EQ(ipcwait_channel_attach(fd, &one), -EUSERS);
	CHECK_EQ(ipcwait_channel_trysend(part[0], &sent), 0);
	CHECK_EQ(ipcwait_channel_tryrecv(part[PARTS - 1], &received), 0);
	CHECK_EQ(received, sent);
	ipcwait_channel_destroy(part[7]);
	CHECK_EQ(ipcwait_channel_attach(fd, &part[7]), 0);
	CHECK_EQ(ipcwait_channel_attach(fd, &one), -EUSERS);
	leave_all(part, PARTS);
	all_numbers_are_free(fd);
}

static _Noreturn void live_on(void)
{
	for (;;)
		pause();
}

/* A child that does not outlive the test. */
static pid_t fork_child(void)
{
	pid_t parent = getpid(), child = fork();

	CHECK(child >= 0);
	if (!child) {
		CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
		if (getppid() != parent)
			_exit(EXIT_FAILURE);
	}
	return child;
}

/* Runs body(fd) in a child, up to the byte that it writes to @told; it lives on. */
static pid_t start(int fd, void (*body)(int fd))
{
	int told[2];
	char byte;
	pid_t child;

	CHECK_EQ(pipe(told), 0);
	child = fork_child();
	if (!child) {
		body(fd);
		CHECK_EQ(write(told[1], "", 1), 1);
		live_on();
	}
	CHECK_EQ(read(told[0], &byte, 1), 1);
	close(told[0]);
	close(told[1]);
	return child;
}

static void end(pid_t child)
{
	CHECK_EQ(kill(child, SIGKILL), 0);
	CHECK(WIFSIGNALED(check_reap(child)));
}

static void take_all(int fd)
{
	struct ipcwait_channel *part[PARTS];

	CHECK_EQ(attach_all(fd, part), PARTS);
}

static void the_killed_give_up_theirs(void)
{
	struct ipcwait_channel *one;
	int fd = new_channel();
	pid_t child = start(fd, take_all);

	CHECK_EQ(ipcwait_channel_attach(fd, &one), -EUSERS);
	end(child);
	all_numbers_are_free(fd);
}

static void do_nothing(int fd)
{
	(void)fd;
}

/* A child of fork(2) has no part, so its parent's end when the parent leaves. */
static void a_child_has_no_part(void)
{
	struct ipcwait_channel *part[PARTS];
	int fd = new_channel();
	pid_t child;
	long sent = 17;

	CHECK_EQ(attach_all(fd, part), PARTS);
	child = fork_child();
	if (!child) {
		CHECK_EQ(ipcwait_channel_trysend(part[0], &sent), -EPERM);
		leave_all(part, PARTS);
		exit(0);
	}
	CHECK_EQ(check_reap(child), 0);
	CHECK_EQ(ipcwait_channel_trysend(part[0], &sent), 0);
	child = start(fd, do_nothing);
	leave_all(part, PARTS);
	all_numbers_are_free(fd);
	end(child);
}

static _Atomic int over;

static void *come_and_go(void *arg)
{
	const int *fd = arg;
	struct ipcwait_channel *part;

	while (!over)
		if (!ipcwait_channel_attach(*fd, &part))
			ipcwait_channel_destroy(part);
	return NULL;
}

/*
 * Children that are forked in the middle of an attach live on, and hold no number. One that has not
 * run yet may have a descriptor that it is about to close, so all say that they have begun.
 */
static void forks_beside_an_attach(void)
{
	int fd = new_channel(), told[2];
	pthread_t thread;
	pid_t child[FORKS];
	char byte;

	CHECK_EQ(pipe(told), 0);
	CHECK_EQ(pthread_create(&thread, NULL, come_and_go, &fd), 0);
	for (unsigned i = 0; i < FORKS; i++) {
		child[i] = fork_child();
		if (!child[i]) {
			CHECK_EQ(write(told[1], "", 1), 1);
			live_on();
		}
	}
	for (unsigned i = 0; i < FORKS; i++)
		CHECK_EQ(read(told[0], &byte, 1), 1);
	over = 1;
	CHECK_EQ(pthread_join(thread, NULL), 0);
	all_numbers_are_free(fd);
	for (unsigned i = 0; i < FORKS; i++)
		end(child[i]);
}

/* The file is as it was, and the next process can make a channel of it. */
static void a_failed_create_leaves_nothing(void)
{
	struct ipcwait_channel_params params = { .elem_size = 1 << 20,
						 .capacity = UINT64_C(1) << 32 };
	struct ipcwait_channel *ch;
	int fd = new_file();

	CHECK(ipcwait_channel_create_shared(fd, &params, &ch) < 0);
	params = (struct ipcwait_channel_params){ .elem_size = 8, .capacity = 4 };
	CHECK_EQ(ipcwait_channel_create_shared(fd, &params, &ch), 0);
	ipcwait_channel_destroy(ch);
}

/*
 * closefrom(3): a part goes on, or is told that nobody can see any more that its process lives. It
 * claims nothing then.
 */
static void the_program_closes_all_descriptors(void)
{
	int fd = new_channel(), own = dup(fd);
	struct ipcwait_channel *part;
	int want = on_overlay ? -EBADF : 0;
	long elem = 17;

	CHECK(own >= 0);
	CHECK_EQ(ipcwait_channel_attach(fd, &part), 0);
	CHECK_EQ(ipcwait_channel_trysend(part, &elem), 0);
	closefrom(3);
	CHECK_EQ(ipcwait_channel_trysend(part, &elem), want);
	CHECK_EQ(ipcwait_channel_tryrecv(part, &elem), want);
	CHECK_EQ(ipcwait_channel_recv_until(part, &elem, ipcwait_deadline_in_ns(1000000)),
		 want);
	ipcwait_channel_destroy(part);
}

/* The numbers are the same file's again, but other descriptions'. They stay the program's. */
static void the_program_takes_the_numbers_for_the_same_file(void)
{
	int fd = new_channel(), high = fcntl(fd, F_DUPFD, 100);
	struct ipcwait_channel *part;
	int want = on_overlay ? -EBADF : 0;
	long elem = 17;

	CHECK(high >= 100);
	CHECK_EQ(ipcwait_channel_attach(fd, &part), 0);
	CHECK_EQ(close_range(3, 99, 0), 0);
	for (int n = 3; n < 100; n++)
		CHECK_EQ(dup2(high, n), n);
	CHECK_EQ(ipcwait_channel_trysend(part, &elem), want);
	CHECK_EQ(ipcwait_channel_tryrecv(part, &elem), want);
	ipcwait_channel_destroy(part);
	for (int n = 3; n < 100; n++)
		CHECK(fcntl(n, F_GETFD) >= 0);
}

/* Its descriptors may have the numbers of the first one's. */
static void a_second_part_after_all_were_closed(void)
{
	int fd = new_channel(), high = fcntl(fd, F_DUPFD, 100);
	struct ipcwait_channel *first, *second;
	int want = on_overlay ? -EBADF : 0;
	long elem = 17;

	CHECK(high >= 100);
	CHECK_EQ(ipcwait_channel_attach(fd, &first), 0);
	CHECK_EQ(close_range(3, 99, 0), 0);
	CHECK_EQ(ipcwait_channel_attach(high, &second), 0);
	CHECK_EQ(ipcwait_channel_trysend(first, &elem), want);
	CHECK_EQ(ipcwait_channel_trysend(second, &elem), 0);
	ipcwait_channel_destroy(first);
	CHECK_EQ(ipcwait_channel_trysend(second, &elem), 0);
	CHECK_EQ(ipcwait_channel_tryrecv(second, &elem), 0);
	ipcwait_channel_destroy(second);
	all_numbers_are_free(high);
}

static void overlay_is_possible(void)
{
	if (!overlay_mount(PLACE))
		_exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(each_part_has_a_number),
		CHILD_TEST(the_killed_give_up_theirs),
		CHILD_TEST(a_child_has_no_part),
		CHILD_TEST(forks_beside_an_attach),
		CHILD_TEST(a_failed_create_leaves_nothing),
		CHILD_TEST(the_program_closes_all_descriptors),
		CHILD_TEST(the_program_takes_the_numbers_for_the_same_file),
		CHILD_TEST(a_second_part_after_all_were_closed),
	};

	on_overlay = argc > 1 && !strcmp(argv[1], "overlay");
	if (on_overlay && check_in_child(overlay_is_possible)) {
		print_message("skipped: no overlayfs may be mounted here\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
