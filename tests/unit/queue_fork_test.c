/* SPDX-License-Identifier: MIT */
/*
 * fork(2) beside threads that use a queue: it returns, whatever the library's own thread is doing,
 * and the child's copy works. Linked with the static library too, as users are without link-time
 * optimization: there the order of constructors is that of objects in the archive.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define THREADS 2
#define FORKS   300

static struct ipcwait_queue *queue;
static _Atomic bool over;

/* Some segments at a time, so that there is always something to give back. */
static void push_and_pop(void)
{
	uint64_t x = 1;

	for (int i = 0; i < 5000; i++)
		CHECK_EQ(ipcwait_queue_push(queue, &x), 0);
	for (int i = 0; i < 5000; i++)
		CHECK_EQ(ipcwait_queue_pop(queue, &x), 0);
}

static void *use_queue(void *unused)
{
	(void)unused;
	while (!over)
		push_and_pop();
	return NULL;
}

static void be_child(void)
{
	if (CHECK_CHILD_MAY_ALLOCATE)
		push_and_pop();
	_exit(EXIT_SUCCESS);
}

static void fork_beside_users(void)
{
	struct ipcwait_queue_params params = { .elem_size = 8 };
	pthread_t thread[THREADS];

	queue = ipcwait_queue_create(&params);
	CHECK(queue != NULL);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, use_queue, NULL), 0);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			be_child();
		CHECK_EQ(check_reap(child), 0);
	}
	over = true;
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	ipcwait_queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = { CHILD_TEST(fork_beside_users) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
