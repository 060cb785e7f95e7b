/* SPDX-License-Identifier: MIT */
/* <ipcwait/fd.h> with the kernel that there is: every documented result, and hand-offs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define LATER  ipcwait_deadline_in_ns(INT64_C(2000000))
#define ROUNDS 2000

#define FILE_BYTES (1 << 20)

static int pipes[2], sockets[2], event;
static char byte;

static int setup(void **state)
{
	(void)state;
	check_watchdog(60);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	event = eventfd(0, 0);
	assert_true(event >= 0);
	errno = 4711;
	return 0;
}

static int teardown(void **state)
{
	int r = errno == 4711 ? 0 : -1;

	(void)state;
	for (int i = 0; i < 2; i++) {
		(void)close(pipes[i]);
		(void)close(sockets[i]);
	}
	(void)close(event);
	return r;
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void test_what_is_there(void **state)
{
	char text[4] = "";
	uint64_t count = 7;

	(void)state;
	put(pipes[1], "abc");
	assert_int_equal(ipcwait_read(pipes[0], text, 2, NULL), 2);
	assert_memory_equal(text, "ab", 2);
	assert_int_equal(ipcwait_read(pipes[0], text, sizeof(text), NULL), 1);
	put(sockets[1], "xyz");
	assert_int_equal(ipcwait_recv(sockets[0], text, 3, MSG_PEEK, NULL), 3);
	assert_int_equal(ipcwait_recv(sockets[0], text, 3, MSG_WAITALL, NULL), 3);
	assert_memory_equal(text, "xyz", 3);
	put(sockets[1], "q");
	assert_int_equal(ipcwait_read(sockets[0], text, 3, NULL), 1);
	assert_int_equal(write(event, &count, sizeof(count)), sizeof(count));
	count = 0;
	assert_int_equal(ipcwait_read(event, &count, sizeof(count), NULL), sizeof(count));
	assert_int_equal(count, 7);
	assert_int_equal(ipcwait_read(pipes[0], text, 0, NULL), 0);
}

static void *open_later(void *unused)
{
	int fd;

	(void)unused;
	(void)usleep(200);
	fd = open(".", O_RDONLY | O_DIRECTORY);
	(void)close(fd);
	return NULL;
}

/* What the kernel cannot read without waiting is asked about, and read when it is there. */
static void test_asked_first(void **state)
{
	char text[sizeof(struct inotify_event) + 64];
	int in = inotify_init1(0);
	pthread_t other;

	(void)state;
	if (in < 0 || inotify_add_watch(in, ".", IN_ATTRIB | IN_OPEN) < 0)
		skip();
	for (int i = 0; i < 20; i++) {
		assert_int_equal(pthread_create(&other, NULL, open_later, NULL), 0);
		assert_true(ipcwait_read(in, text, sizeof(text), NULL) > 0);
		assert_int_equal(pthread_join(other, NULL), 0);
	}
	assert_int_equal(fcntl(in, F_SETFL, O_NONBLOCK), 0);
	while (ipcwait_read(in, text, sizeof(text), NULL) > 0)
		continue;
	assert_int_equal(ipcwait_read(in, text, sizeof(text), NULL), -EAGAIN);
	(void)close(in);
}

/* A file of which the cache has only the beginning, where file systems let it go. */
static int half_cached(void)
{
	char name[] = "fd_api_test.XXXXXX";
	int fd = mkstemp(name);
	static char block[FILE_BYTES / 16];

	assert_true(fd >= 0);
	assert_int_equal(unlink(name), 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	assert_int_equal(pread(fd, block, 4096, 0), 4096);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* A look must not make a read of a file shorter than it is. */
static void test_files(void **state)
{
	static char all[FILE_BYTES + 1];

	(void)state;
	for (int i = 0; i < 4; i++) {
		int fd = half_cached();

		if (i & 1)
			assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
		if (i & 2)
			assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
		assert_int_equal(ipcwait_read(fd, all, FILE_BYTES / 2, NULL),
				 FILE_BYTES / 2);
		assert_int_equal(ipcwait_read(fd, all, sizeof(all), NULL), FILE_BYTES / 2);
		assert_int_equal(ipcwait_read(fd, all, sizeof(all), NULL), 0);
		(void)close(fd);
	}
}

/* With a window of its own: the library's may have learned not to look. */
static uint64_t read_one(int fd)
{
	struct ipcwait_window fresh = { .bins = { 0 } };
	uint64_t counts[8] = { 0 };

	assert_int_equal(ipcwait_read(fd, counts, sizeof(counts), &fresh),
			 sizeof(counts[0]));
	return counts[0];
}

/* What comes is less than the buffer holds, and all that a read waits for. */
static void test_larger_buffers(void **state)
{
	struct itimerspec soon = { .it_value = { 0, 1 } };
	int semaphore = eventfd(3, EFD_SEMAPHORE);
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), signals;
	struct ipcwait_window fresh[2] = { { .bins = { 0 } } };
	struct signalfd_siginfo infos[4];
	sigset_t mask, before;
	char text[64];

	(void)state;
	/* Tokens first: where a second read takes one, it does not wait. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(read_one(semaphore), 1);
	assert_int_equal(eventfd_write(event, 7), 0);
	assert_int_equal(read_one(event), 7);
	assert_int_equal(timerfd_settime(timer, 0, &soon, NULL), 0);
	assert_int_equal(read_one(timer), 1);
	assert_int_equal(sigemptyset(&mask), 0);
	assert_int_equal(sigaddset(&mask, SIGUSR2), 0);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &mask, &before), 0);
	signals = signalfd(-1, &mask, 0);
	assert_int_equal(pthread_kill(pthread_self(), SIGUSR2), 0);
	assert_int_equal(ipcwait_read(signals, infos, sizeof(infos), &fresh[0]),
			 sizeof(infos[0]));
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
	put(pipes[1], "abc");
	assert_int_equal(ipcwait_read(pipes[0], text, sizeof(text), &fresh[1]), 3);
	(void)close(semaphore);
	(void)close(timer);
	(void)close(signals);
}

static void test_ends(void **state)
{
	(void)state;
	assert_int_equal(close(pipes[1]), 0);
	assert_int_equal(ipcwait_read(pipes[0], &byte, 1, NULL), 0);
	assert_int_equal(shutdown(sockets[1], SHUT_WR), 0);
	assert_int_equal(ipcwait_recv(sockets[0], &byte, 1, 0, NULL), 0);
	pipes[1] = dup(event);
}

static void test_nonblocking(void **state)
{
	(void)state;
	assert_int_equal(fcntl(pipes[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(sockets[0], F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(ipcwait_read(pipes[0], &byte, 1, NULL), -EAGAIN);
		assert_int_equal(ipcwait_read(sockets[0], &byte, 1, NULL), -EAGAIN);
		assert_int_equal(ipcwait_recv(sockets[0], &byte, 1, 0, NULL), -EAGAIN);
	}
	assert_int_equal(ipcwait_recv(sockets[1], &byte, 1, MSG_DONTWAIT, NULL), -EAGAIN);
}

static void test_bad_input(void **state)
{
	_Alignas(8) char bytes[32] = { 0 };
	struct ipcwait_window *crooked = (struct ipcwait_window *)(void *)(bytes + 4);
	struct epoll_event e;
	struct pollfd p = { .fd = pipes[0], .events = POLLIN };

	(void)state;
	assert_int_equal(ipcwait_read(pipes[0], &byte, 1, crooked), -EINVAL);
	assert_int_equal(ipcwait_recv(sockets[0], &byte, 1, 0, crooked), -EINVAL);
	assert_int_equal(ipcwait_poll(&p, 1, LATER, crooked), -EINVAL);
	assert_int_equal(ipcwait_epoll_wait(pipes[0], &e, 1, LATER, crooked), -EINVAL);
	assert_int_equal(ipcwait_read(-1, &byte, 1, NULL), -EBADF);
	assert_int_equal(ipcwait_recv(-1, &byte, 1, 0, NULL), -EBADF);
	assert_int_equal(ipcwait_recv(pipes[0], &byte, 1, 0, NULL), -ENOTSOCK);
	assert_int_equal(ipcwait_epoll_wait(pipes[0], &e, 1, LATER, NULL), -EINVAL);
	assert_int_equal(ipcwait_epoll_wait(-1, &e, 1, LATER, NULL), -EBADF);
	assert_int_equal(ipcwait_poll(NULL, 1, LATER, NULL), -EFAULT);
	put(pipes[1], "a");
	assert_int_equal(ipcwait_read(pipes[0], NULL, 1, NULL), -EFAULT);
}

/* A process that was stopped and goes on finds epoll_wait(2) interrupted without a handler. */
static int epoll_until(int epoll, struct epoll_event *e, int64_t deadline_ns,
		       struct ipcwait_window *w)
{
	int r;

	do
		r = ipcwait_epoll_wait(epoll, e, 1, deadline_ns, w);
	while (r == -EINTR);
	return r;
}

static void test_deadlines(void **state)
{
	struct pollfd p = { .fd = pipes[0], .events = POLLIN };
	int epoll = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN };
	int64_t deadline_ns;

	(void)state;
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &e), 0);
	for (int i = 0; i < 20; i++) {
		deadline_ns = LATER;
		assert_int_equal(ipcwait_poll(&p, 1, deadline_ns, NULL), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline_ns);
		deadline_ns = LATER;
		assert_int_equal(epoll_until(epoll, &e, deadline_ns, NULL), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline_ns);
	}
	assert_int_equal(ipcwait_poll(&p, 1, -1, NULL), -ETIMEDOUT);
	put(pipes[1], "a");
	assert_int_equal(ipcwait_poll(&p, 1, 0, NULL), 1);
	assert_int_equal(p.revents, POLLIN);
	assert_int_equal(ipcwait_epoll_wait(epoll, &e, 1, 0, NULL), 1);
	assert_int_equal(epoll_until(epoll, &e, IPCWAIT_FOREVER, NULL), 1);
	assert_int_equal(ipcwait_poll(&p, 1, IPCWAIT_FOREVER, NULL), 1);
	(void)close(epoll);
}

static void *echo(void *unused)
{
	(void)unused;
	while (ipcwait_recv(sockets[1], &byte, 1, 0, NULL) == 1)
		assert_int_equal(write(sockets[1], &byte, 1), 1);
	return NULL;
}

/* With windows of their own, which learn, and the library's. */
static void test_hand_offs(void **state)
{
	static struct ipcwait_window windows[3];
	struct pollfd p = { .fd = sockets[0], .events = POLLIN };
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = epoll_create1(0);
	struct ipcwait_stats before, after;
	pthread_t other;
	char c;

	(void)state;
	assert_int_equal(ipcwait_stats_get(&before, sizeof(before)), sizeof(before));
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[0], &e), 0);
	assert_int_equal(pthread_create(&other, NULL, echo, NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		c = (char)i;
		assert_int_equal(write(sockets[0], &c, 1), 1);
		if (i % 4 == 1)
			assert_int_equal(ipcwait_poll(&p, 1, IPCWAIT_FOREVER, &windows[0]),
					 1);
		if (i % 4 == 2)
			assert_int_equal(
				epoll_until(epoll, &e, IPCWAIT_FOREVER, &windows[1]), 1);
		assert_int_equal(
			ipcwait_read(sockets[0], &c, 1, i % 4 == 3 ? &windows[2] : NULL),
			1);
		assert_int_equal(c, (char)i);
	}
	assert_int_equal(shutdown(sockets[0], SHUT_WR), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(ipcwait_stats_get(&after, sizeof(after)), sizeof(after));
	assert_true(after.kind[IPCWAIT_KIND_FD].spun + after.kind[IPCWAIT_KIND_FD].slept >
		    before.kind[IPCWAIT_KIND_FD].spun + before.kind[IPCWAIT_KIND_FD].slept);
	(void)close(epoll);
}

static _Atomic bool over;

static void handle(int number)
{
	(void)number;
}

/* Until the call is over: a handler may run before it sleeps. */
static void *disturb(void *target)
{
	while (!over) {
		(void)usleep(1000);
		(void)pthread_kill(*(pthread_t *)target, SIGUSR1);
	}
	return NULL;
}

/* A handler that runs while the call sleeps. */
static void test_signals(void **state)
{
	struct sigaction action = { .sa_handler = handle };
	struct pollfd p = { .fd = pipes[0], .events = POLLIN };
	pthread_t self = pthread_self(), other;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	for (int i = 0; i < 2; i++) {
		over = false;
		assert_int_equal(pthread_create(&other, NULL, disturb, &self), 0);
		if (i)
			assert_int_equal(ipcwait_read(pipes[0], &byte, 1, NULL), -EINTR);
		else
			assert_int_equal(ipcwait_poll(&p, 1, IPCWAIT_FOREVER, NULL),
					 -EINTR);
		over = true;
		assert_int_equal(pthread_join(other, NULL), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asked_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_larger_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nonblocking, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_input, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deadlines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hand_offs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
