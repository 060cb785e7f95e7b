/* SPDX-License-Identifier: MIT */
/*
 * A program closes descriptors that it does not know while a thread sleeps on descriptors in
 * ipcwait_wait_any(), and opens epoll instances, one of which gets the number of the library's. The
 * library's thread takes no event from it.
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/task.h"

#define OWN 8

static int waited_for[2], known[2];

static void *wait_for_descriptors(void *unused)
{
	static struct ipcwait_window w;
	static uint32_t word;
	struct pollfd p = { .fd = waited_for[0], .events = POLLIN };
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = &word },
		{ .type = IPCWAIT_WAITABLE_FD, .object = &p },
	};

	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_BLOCK), 0);
	CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &w), 1);
	return unused;
}

/* Threads of this process that sleep, or all. */
static unsigned threads(bool asleep)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned n = 0;

	CHECK(folder != NULL);
	while ((entry = readdir(folder))) {
		int id = atoi(entry->d_name);

		n += id && (!asleep || task_sleeps(id));
	}
	CHECK_EQ(closedir(folder), 0);
	return n;
}

static bool both_sleep(void *unused)
{
	(void)unused;
	return threads(true) == 2;
}

static bool one_has_ended(void *unused)
{
	(void)unused;
	return threads(false) == 2;
}

static bool is_epoll(int fd)
{
	char path[64], name[64] = "";

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "[eventpoll]");
}

static void close_epolls(void)
{
	for (int fd = 0; fd < 100; fd++)
		if (is_epoll(fd))
			(void)close(fd);
}

/* It looks at its number after 5 s, and ends. */
static void test_events_stay(void **state)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	pthread_t thread;
	int own[OWN];

	(void)state;
	/* The thread sanitizer has a thread of its own in each process. */
	if (CHECK_DEFERS_SIGNALS)
		skip();
	assert_int_equal(pipe(waited_for), 0);
	assert_int_equal(pipe(known), 0);
	assert_int_equal(write(known[1], "x", 1), 1);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_descriptors, NULL), 0);
	assert_true(check_eventually(both_sleep, NULL));
	close_epolls();
	for (int i = 0; i < OWN; i++) {
		own[i] = epoll_create1(EPOLL_CLOEXEC);
		assert_true(own[i] >= 0);
		assert_int_equal(epoll_ctl(own[i], EPOLL_CTL_ADD, known[0], &e), 0);
	}
	assert_true(check_eventually(one_has_ended, NULL));
	for (int i = 0; i < OWN; i++)
		assert_int_equal(epoll_wait(own[i], &e, 1, 0), 1);
	assert_int_equal(write(waited_for[1], "x", 1), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_events_stay) };

	check_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
