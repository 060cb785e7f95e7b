/* SPDX-License-Identifier: MIT */
/*
 * The eventfd of a channel in programs that fork, that close descriptors which they do not know, or
 * that have closed their standard streams.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define THREADS 4

static struct ipcwait_channel *channel;
static int number;

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r = poll(&p, 1, 0);

	CHECK(r >= 0 && !(p.revents & POLLNVAL));
	return r == 1;
}

static void send_one(void)
{
	uint64_t x = 1;

	CHECK_EQ(ipcwait_channel_send(channel, &x), 0);
}

/* How many have come. */
static unsigned drain(void)
{
	unsigned n = 0;
	uint64_t x;

	while (ipcwait_channel_tryrecv(channel, &x) == 0)
		n++;
	return n;
}

static void begin(void)
{
	struct ipcwait_channel_params params = { .elem_size = 8, .capacity = 8 };

	channel = ipcwait_channel_create(&params);
	CHECK(channel != NULL);
	number = ipcwait_channel_eventfd(channel);
	CHECK(number >= 3 && (fcntl(number, F_GETFD) & FD_CLOEXEC));
	CHECK_EQ(drain(), 0);
	CHECK(!readable(number));
}

static void in_a_child(void (*body)(void))
{
	CHECK_EQ(check_in_child(body), 0);
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void take_all(void)
{
	CHECK_EQ(drain(), 1);
	CHECK(!readable(number));
}

static void send_and_be_told(void)
{
	send_one();
	CHECK(readable(number));
	CHECK_EQ(drain(), 1);
	CHECK(!readable(number));
	send_one();
	CHECK(readable(number));
}

static void ask_again(void)
{
	int open = descriptors();

	CHECK_EQ(ipcwait_channel_eventfd(channel), number);
	CHECK_EQ(descriptors(), open);
	CHECK(readable(number));
	CHECK_EQ(drain(), 0);
	send_and_be_told();
}

static void end_channel(void)
{
	int open = descriptors();

	ipcwait_channel_destroy(channel);
	CHECK(fcntl(number, F_GETFD) < 0);
	CHECK_EQ(descriptors(), open - 2);
}

static void end_own(void)
{
	send_and_be_told();
	end_channel();
}

static void fork_again(void)
{
	in_a_child(send_and_be_told);
	CHECK(!readable(number));
	send_and_be_told();
	in_a_child(end_channel);
	CHECK(readable(number));
}

/* What a child does to its copy tells the parent's loop nothing, and takes nothing from it. */
static void children_have_their_own(void)
{
	begin();
	send_one();
	in_a_child(take_all);
	CHECK(readable(number));
	CHECK_EQ(drain(), 1);
	in_a_child(send_and_be_told);
	CHECK(!readable(number));
	in_a_child(ask_again);
	in_a_child(end_channel);
	in_a_child(end_own);
	in_a_child(fork_again);
	CHECK(!readable(number));
	send_and_be_told();
	ipcwait_channel_destroy(channel);
}

/* The channel itself may be in the middle of a send. */
static void ask_only(void)
{
	CHECK_EQ(ipcwait_channel_eventfd(channel), number);
	CHECK(readable(number));
}

/* The parent's loop goes on beside children that have theirs. */
static void *feed(void *unused)
{
	(void)unused;
	for (int i = 0; i < 200; i++)
		send_one();
	return NULL;
}

static void parent_and_child_at_once(void)
{
	struct pollfd p = { .events = POLLIN };
	unsigned got = 0;
	pthread_t thread;

	begin();
	p.fd = number;
	CHECK_EQ(pthread_create(&thread, NULL, feed, NULL), 0);
	while (got < 200) {
		CHECK_EQ(poll(&p, 1, -1), 1);
		got += drain();
		if (got % 10 == 0)
			in_a_child(ask_only);
	}
	CHECK_EQ(pthread_join(thread, NULL), 0);
	ipcwait_channel_destroy(channel);
}

static void *ask(void *unused)
{
	CHECK_EQ(ipcwait_channel_eventfd(channel), number);
	return unused;
}

static void ask_in_threads(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, ask, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(drain(), 0);
	send_and_be_told();
}

static void threads_of_a_child(void)
{
	if (!CHECK_CHILD_MAY_ALLOCATE)
		return;
	begin();
	for (int i = 0; i < 20; i++)
		in_a_child(ask_in_threads);
	ipcwait_channel_destroy(channel);
}

/* As a daemon does. Without standard streams the test could not tell what is wrong. */
static void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd);
}

/* The file that has got the number is not written, read, or closed. */
static void is_left_alone(int fd)
{
	CHECK_EQ(fd, number);
	(void)drain();
	send_one();
	(void)drain();
	send_one();
	ipcwait_channel_destroy(channel);
	CHECK(fcntl(fd, F_GETFD) >= 0);
}

static void a_file_has_the_number(void)
{
	char name[] = "/tmp/channel_eventfd_test.XXXXXX";
	struct stat st;
	int fd;

	begin();
	close_all();
	fd = mkstemp(name);
	CHECK(fd >= 0 && unlink(name) == 0);
	CHECK_EQ(write(fd, "data", 4), 4);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	is_left_alone(fd);
	CHECK(fstat(fd, &st) == 0 && st.st_size == 4);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 0);
}

static void an_eventfd_has_the_number(void)
{
	uint64_t count;
	int fd;

	begin();
	close_all();
	fd = eventfd(5, EFD_NONBLOCK);
	is_left_alone(fd);
	CHECK_EQ(read(fd, &count, sizeof(count)), sizeof(count));
	CHECK_EQ(count, 5);
}

static void the_other_channels(void)
{
	struct ipcwait_channel_params params = { .elem_size = 8, .capacity = 8 };
	struct ipcwait_channel *other = ipcwait_channel_create(&params);
	uint64_t x = 1;
	int fd;

	CHECK(other != NULL);
	begin();
	close_all();
	fd = ipcwait_channel_eventfd(other);
	CHECK_EQ(ipcwait_channel_tryrecv(other, &x), -EAGAIN);
	is_left_alone(fd);
	CHECK(!readable(fd));
	CHECK_EQ(ipcwait_channel_send(other, &x), 0);
	CHECK(readable(fd));
	ipcwait_channel_destroy(other);
	CHECK(fcntl(fd, F_GETFD) < 0);
}

/* It comes back when it is asked for, under whatever number, and tells of what is there. */
static void asked_for_again(void)
{
	begin();
	send_one();
	close_all();
	number = ipcwait_channel_eventfd(channel);
	CHECK(number >= 3 && readable(number));
	CHECK_EQ(drain(), 1);
	send_and_be_told();
	ipcwait_channel_destroy(channel);
	CHECK_EQ(descriptors(), 3);
}

static void closed_in_a_child(void)
{
	close_all();
	send_one();
	CHECK_EQ(drain(), 1);
	CHECK_EQ(descriptors(), 3);
	number = ipcwait_channel_eventfd(channel);
	CHECK(number >= 3);
	send_and_be_told();
	end_channel();
}

static void a_child_closes_all(void)
{
	begin();
	in_a_child(closed_in_a_child);
	send_and_be_told();
	ipcwait_channel_destroy(channel);
}

/* A thread that prints does not print into it. */
static void without_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		(void)close(fd);
	begin();
	send_and_be_told();
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			_exit(EXIT_FAILURE);
	end_channel();
}

/* There is no room for another descriptor, and later there is. */
static void at_the_limit(void)
{
	struct ipcwait_channel_params params = { .elem_size = 8, .capacity = 8 };
	const struct rlimit few = { 64, 64 };
	int last = -1, fd;

	channel = ipcwait_channel_create(&params);
	CHECK(channel != NULL && setrlimit(RLIMIT_NOFILE, &few) == 0);
	while ((fd = dup(STDERR_FILENO)) >= 0)
		last = fd;
	CHECK_EQ(ipcwait_channel_eventfd(channel), -EMFILE);
	CHECK(close(last) == 0);
	CHECK_EQ(ipcwait_channel_eventfd(channel), -EMFILE);
	CHECK(close(last - 1) == 0);
	number = ipcwait_channel_eventfd(channel);
	CHECK(number >= 0 && drain() == 0);
	send_and_be_told();
	ipcwait_channel_destroy(channel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(children_have_their_own),   CHILD_TEST(parent_and_child_at_once),
		CHILD_TEST(threads_of_a_child),        CHILD_TEST(a_file_has_the_number),
		CHILD_TEST(an_eventfd_has_the_number), CHILD_TEST(the_other_channels),
		CHILD_TEST(asked_for_again),           CHILD_TEST(a_child_closes_all),
		CHILD_TEST(without_streams),           CHILD_TEST(at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
