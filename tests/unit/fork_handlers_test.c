/* SPDX-License-Identifier: MIT */
/*
 * Handlers of pthread_atfork() that were registered after the library was loaded use all of it,
 * before a fork, after it in the parent, and in the child: nothing of the library's is held then.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

static int ends[2];
static uint32_t word;
static struct ipcwait_queue *queue;
static struct ipcwait_pool *pool;
static struct ipcwait_channel *channel;

/* What is used by the handlers of this test. */
static void (*use)(void);

/* It sleeps: nobody writes. */
static void wait_for_descriptors(void)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = &word },
		{ .type = IPCWAIT_WAITABLE_FD, .object = &p },
	};

	CHECK_EQ(ipcwait_wait_any(set, 2, ipcwait_deadline_in_ns(3000000), NULL),
		 -ETIMEDOUT);
}

static void be_awake(void)
{
	if (ipcwait_awake_begin() == 0)
		CHECK_EQ(ipcwait_awake_end(), 0);
}

/* Of several segments, so that what is used up goes back. */
static void use_queue(void)
{
	uint64_t x = 1;

	for (int i = 0; i < 3000; i++)
		CHECK_EQ(ipcwait_queue_push(queue, &x), 0);
	for (int i = 0; i < 3000; i++)
		CHECK_EQ(ipcwait_queue_trypop(queue, &x), 0);
	(void)ipcwait_queue_trim(queue);
}

static void use_pool(void)
{
	struct ipcwait_pool_params params = { .elem_size = 4096 };
	struct ipcwait_pool *own;
	void *elem[100];

	for (int i = 0; i < 100; i++)
		elem[i] = ipcwait_pool_get(pool);
	for (int i = 0; i < 100; i++)
		ipcwait_pool_put(pool, elem[i]);
	(void)ipcwait_pool_trim(pool);
	CHECK_EQ(ipcwait_pool_create(&params, &own), 0);
	ipcwait_pool_destroy(own);
}

static void use_channel(void)
{
	uint64_t x = 1;

	CHECK(ipcwait_channel_eventfd(channel) >= 0);
	CHECK_EQ(ipcwait_channel_tryrecv(channel, &x), -EAGAIN);
	CHECK_EQ(ipcwait_channel_send(channel, &x), 0);
	CHECK_EQ(ipcwait_channel_tryrecv(channel, &x), 0);
}

static void run(void)
{
	use();
}

/* The child of a process with threads may have none under a sanitizer. */
static void run_in_child_of_threads(void)
{
	if (CHECK_CHILD_MAY_ALLOCATE)
		use();
}

static void prepare(void)
{
	struct ipcwait_queue_params of_queue = { .elem_size = 8 };
	struct ipcwait_pool_params of_pool = { .elem_size = 64 };
	struct ipcwait_channel_params of_channel = { .elem_size = 8, .capacity = 4 };

	CHECK(pipe(ends) == 0);
	queue = ipcwait_queue_create(&of_queue);
	channel = ipcwait_channel_create(&of_channel);
	CHECK(queue && channel && ipcwait_pool_create(&of_pool, &pool) == 0);
	CHECK_EQ(pthread_atfork(run, run, run_in_child_of_threads), 0);
}

/* Also what the library has begun only in the first of them. */
static void fork_often(void)
{
	prepare();
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			_exit(EXIT_SUCCESS);
		CHECK_EQ(check_reap(child), 0);
	}
}

static void of_wait_any(void)
{
	use = wait_for_descriptors;
	fork_often();
}

static void of_awake(void)
{
	use = be_awake;
	fork_often();
}

static void of_queues(void)
{
	use = use_queue;
	fork_often();
}

static void of_pools(void)
{
	use = use_pool;
	fork_often();
}

static void of_channels(void)
{
	use = use_channel;
	fork_often();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(of_wait_any), CHILD_TEST(of_awake),    CHILD_TEST(of_queues),
		CHILD_TEST(of_pools),    CHILD_TEST(of_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
