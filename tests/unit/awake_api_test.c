/* SPDX-License-Identifier: MIT */
/*
 * <ipcwait/awake.h>: counting, threads, fork, exec, death. Where the request may not be made, that
 * is what is tested; its effect is read back from the device, which only root can.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cmocka_all.h"

#include <ipcwait/ipcwait.h>

#define DEVICE  "/dev/cpu_dma_latency"
#define THREADS 4
#define ROUNDS  500

/* What the kernel goes by, of all requests; -1: not to be had. */
static int latency_us(void)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	int32_t us = -1;

	if (fd < 0)
		return -1;
	if (read(fd, &us, sizeof(us)) != sizeof(us))
		us = -1;
	close(fd);
	return us;
}

/* How many descriptors of the device this process has; *@last: one of them. */
static int descriptors_and(int *last)
{
	char path[64], target[64];
	int found = 0;

	for (int fd = 0; fd < 64; fd++) {
		ssize_t n;

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		if (strcmp(target, DEVICE) != 0)
			continue;
		found++;
		*last = fd;
	}
	return found;
}

static int descriptors(void)
{
	int last;

	return descriptors_and(&last);
}

/* Nobody's request but this test's can be told apart from none. */
static bool can_read_back(void)
{
	return latency_us() > 0;
}

static bool can_begin(void)
{
	int r = ipcwait_awake_begin();

	if (r == 0)
		assert_int_equal(ipcwait_awake_end(), 0);
	else
		assert_true(r == -EACCES || r == -ENOENT || r == -EOPNOTSUPP ||
			    r == -EPERM);
	return r == 0;
}

static void test_an_end_without_a_begin(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_awake_end(), -EINVAL);
}

static void test_refused_leaves_nothing(void **state)
{
	(void)state;
	if (can_begin())
		skip();
	assert_int_equal(descriptors(), 0);
	assert_int_equal(ipcwait_awake_end(), -EINVAL);
}

static void test_counted(void **state)
{
	int before = latency_us();

	(void)state;
	if (!can_begin())
		skip();
	assert_int_equal(ipcwait_awake_begin(), 0);
	assert_int_equal(ipcwait_awake_begin(), 0);
	assert_int_equal(descriptors(), 1);
	assert_int_equal(ipcwait_awake_end(), 0);
	assert_int_equal(descriptors(), 1);
	if (before >= 0)
		assert_int_equal(latency_us(), 0);
	assert_int_equal(ipcwait_awake_end(), 0);
	assert_int_equal(descriptors(), 0);
	assert_int_equal(latency_us(), before);
	assert_int_equal(ipcwait_awake_end(), -EINVAL);
}

/* Somebody has closed all descriptors, and the next file has got the number. */
static void test_the_number_of_somebody_else(void **state)
{
	int fd = -1, null;

	(void)state;
	if (!can_begin())
		skip();
	assert_int_equal(ipcwait_awake_begin(), 0);
	assert_int_equal(descriptors_and(&fd), 1);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(dup3(null, fd, O_CLOEXEC), fd);
	assert_int_equal(ipcwait_awake_end(), 0);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(null), 0);
}

static void test_errno_is_untouched(void **state)
{
	(void)state;
	errno = 77;
	if (ipcwait_awake_begin() == 0)
		(void)ipcwait_awake_end();
	(void)ipcwait_awake_end();
	assert_int_equal(errno, 77);
}

static void *begin_and_end(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		CHECK_EQ(ipcwait_awake_begin(), 0);
		CHECK_EQ(ipcwait_awake_end(), 0);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	if (!can_begin())
		skip();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, begin_and_end, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(descriptors(), 0);
	assert_int_equal(ipcwait_awake_end(), -EINVAL);
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* By a signal: to a race detector a child that exits has leaked its parent's threads. */
static _Noreturn void be_child_of_threads(void)
{
	CHECK_EQ(descriptors(), 0);
	CHECK_EQ(ipcwait_awake_end(), -EINVAL);
	CHECK_EQ(ipcwait_awake_begin(), 0);
	CHECK_EQ(ipcwait_awake_end(), 0);
	(void)raise(SIGKILL);
	abort();
}

/* The child has none, whatever other threads of the parent are about to do, and its own count. */
static void test_fork(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	if (!can_begin())
		skip();
	assert_int_equal(ipcwait_awake_begin(), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, begin_and_end, NULL), 0);
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (!pid)
			be_child_of_threads();
		assert_int_equal(status_of(pid), SIGKILL);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(descriptors(), 1);
	assert_int_equal(ipcwait_awake_end(), 0);
}

/* A child that lives on does not keep the parent's request. */
static void test_a_child_keeps_nothing(void **state)
{
	pid_t pid;

	(void)state;
	if (!can_begin() || !can_read_back())
		skip();
	assert_int_equal(ipcwait_awake_begin(), 0);
	pid = fork();
	if (!pid) {
		for (;;)
			pause();
	}
	assert_int_equal(latency_us(), 0);
	assert_int_equal(ipcwait_awake_end(), 0);
	/* The child may not have come to its hook yet. */
	while (latency_us() == 0)
		usleep(1000);
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)status_of(pid);
}

static void test_death(void **state)
{
	int told[2];
	char byte;
	pid_t pid;

	(void)state;
	if (!can_begin() || !can_read_back())
		skip();
	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		CHECK_EQ(ipcwait_awake_begin(), 0);
		CHECK_EQ(write(told[1], "x", 1), 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(told[0], &byte, 1), 1);
	assert_int_equal(latency_us(), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)status_of(pid);
	assert_true(latency_us() > 0);
	close(told[0]);
	close(told[1]);
}

static void test_what_is_executed_has_none(void **state)
{
	pid_t pid;

	(void)state;
	if (!can_begin())
		skip();
	assert_int_equal(ipcwait_awake_begin(), 0);
	pid = vfork();
	if (!pid) {
		execlp("sh", "sh", "-c", "! ls -l /proc/self/fd | grep cpu_dma_latency",
		       (char *)NULL);
		_exit(127);
	}
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(ipcwait_awake_end(), 0);
}

/* What a program prints that has closed its streams must not get into the device. */
static void test_standard_streams(void **state)
{
	pid_t pid;

	(void)state;
	if (!can_begin())
		skip();
	pid = fork();
	if (!pid) {
		close(0);
		close(1);
		close(2);
		if (ipcwait_awake_begin() || fcntl(0, F_GETFD) != -1 ||
		    fcntl(1, F_GETFD) != -1 || fcntl(2, F_GETFD) != -1)
			_exit(1);
		(void)raise(descriptors() == 1 ? SIGKILL : SIGTERM);
		abort();
	}
	assert_int_equal(status_of(pid), SIGKILL);
}

static struct ipcwait_stats stats(void)
{
	struct ipcwait_stats st;

	assert_int_equal(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st;
}

/* Requests are counted, not calls, and a request that was refused is none. */
static void test_statistics(void **state)
{
	bool can = can_begin();
	uint64_t before = stats().awake_requests, ns = stats().awake_ns;

	(void)state;
	if (!can) {
		assert_int_equal(before, 0);
		assert_int_equal(ns, 0);
		skip();
	}
	assert_int_equal(ipcwait_awake_begin(), 0);
	assert_int_equal(ipcwait_awake_begin(), 0);
	usleep(2000);
	assert_int_equal(stats().awake_requests, before + 1);
	assert_true(stats().awake_ns >= ns + 2000000);
	assert_int_equal(ipcwait_awake_end(), 0);
	assert_int_equal(ipcwait_awake_end(), 0);
	ns = stats().awake_ns;
	usleep(2000);
	assert_int_equal(stats().awake_ns, ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_end_without_a_begin),
		cmocka_unit_test(test_refused_leaves_nothing),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_the_number_of_somebody_else),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_errno_is_untouched),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_a_child_keeps_nothing),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_what_is_executed_has_none),
		cmocka_unit_test(test_standard_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
