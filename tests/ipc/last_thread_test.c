/* SPDX-License-Identifier: MIT */
/*
 * A process whose first thread ends by pthread_exit(3), as POSIX allows: it ends when its last
 * thread has ended, with status 0. The library's own threads do not keep it, whatever has begun
 * them.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

/* The stack of a thread that has ended points to nothing: all that it had would be leaked. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* Of enough segments that what is used up goes to the worker. */
static void use_queue(void)
{
	struct ipcwait_queue_params params = { .elem_size = 8 };
	struct ipcwait_queue *q = ipcwait_queue_create(&params);
	uint64_t x = 1;

	CHECK(q != NULL);
	for (int i = 0; i < 20000; i++)
		CHECK_EQ(ipcwait_queue_push(q, &x), 0);
	for (int i = 0; i < 20000; i++)
		CHECK_EQ(ipcwait_queue_trypop(q, &x), 0);
	ipcwait_queue_destroy(q);
}

static void wait_for_descriptors(void)
{
	static uint32_t word;
	struct pollfd p = { .events = POLLIN };
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = &word },
		{ .type = IPCWAIT_WAITABLE_FD, .object = &p },
	};
	int ends[2];

	CHECK(pipe(ends) == 0);
	p.fd = ends[0];
	CHECK_EQ(ipcwait_wait_any(set, 2, ipcwait_deadline_in_ns(3000000), NULL),
		 -ETIMEDOUT);
}

static void after_a_queue(void)
{
	use_queue();
	pthread_exit(NULL);
}

static void after_descriptors(void)
{
	wait_for_descriptors();
	pthread_exit(NULL);
}

static void *use_all(void *unused)
{
	use_queue();
	wait_for_descriptors();
	return unused;
}

/* Another thread is the last of the program's. */
static void after_another_thread(void)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, use_all, NULL), 0);
	CHECK_EQ(pthread_detach(thread), 0);
	pthread_exit(NULL);
}

static struct ipcwait_queue *queue;

static bool is_given_back(void *unused)
{
	struct ipcwait_queue_stats st;

	(void)unused;
	CHECK_EQ(ipcwait_queue_stats_get(queue, &st, sizeof(st)), sizeof(st));
	return st.limbo_bytes == 0;
}

/* A folder of proc(5) has a link from itself, one from above, and one from each folder in it. */
static bool is_alone(void *unused)
{
	struct stat st;

	(void)unused;
	CHECK(stat("/proc/self/task", &st) == 0);
	return st.st_nlink == 3;
}

static void use_segments(void)
{
	uint64_t x = 1;

	for (int i = 0; i < 5000; i++) {
		CHECK_EQ(ipcwait_queue_push(queue, &x), 0);
		CHECK_EQ(ipcwait_queue_trypop(queue, &x), 0);
	}
}

/* The worker has ended, and what is retired later is given back all the same. */
static void a_worker_comes_again(void)
{
	struct ipcwait_queue_params params = { .elem_size = 8 };

	queue = ipcwait_queue_create(&params);
	CHECK(queue != NULL);
	for (int i = 0; i < 3; i++) {
		use_segments();
		CHECK(check_eventually(is_given_back, NULL));
		CHECK(check_eventually(is_alone, NULL));
	}
	ipcwait_queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(after_a_queue),
		CHILD_TEST(after_descriptors),
		CHILD_TEST(after_another_thread),
		CHILD_TEST(a_worker_comes_again),
	};

	/* The thread sanitizer has a thread of its own in each process. */
	if (CHECK_DEFERS_SIGNALS) {
		print_message("skipped: under a thread sanitizer\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
