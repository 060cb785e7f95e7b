/* SPDX-License-Identifier: MIT */
/* <ipcwait/queue.h>: what a burst has taken goes back, queues come and go, the process forks. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define BURST 1000000

/* Each thread has taken many segments by then, so its cache is made and it allocates no more. */
#define THREADS      2
#define ROUNDS_FIRST 20000

/* They keep memory of their own. */
#define SANITIZED (CHECK_DEFERS_SIGNALS || !IPCWAIT_IMPL_POOL_INLINE)

/* Each pooled class may keep that much, and then some. */
#define SLACK (4u << 20)

static struct ipcwait_queue *make(size_t elem_size)
{
	struct ipcwait_queue_params params = { .elem_size = elem_size };
	struct ipcwait_queue *q = ipcwait_queue_create(&params);

	CHECK(q != NULL);
	return q;
}

static struct ipcwait_queue_stats stats(struct ipcwait_queue *q)
{
	struct ipcwait_queue_stats st;

	CHECK_EQ(ipcwait_queue_stats_get(q, &st, sizeof(st)), sizeof(st));
	return st;
}

/* Bytes of the process that are in memory. */
static uint64_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long all, in_memory;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &all, &in_memory), 2);
	(void)fclose(f);
	return in_memory * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void push_and_pop(struct ipcwait_queue *q, uint64_t n)
{
	uint64_t elem;

	for (uint64_t i = 0; i < n; i++)
		CHECK_EQ(ipcwait_queue_push(q, &i), 0);
	for (uint64_t i = 0; i < n; i++) {
		CHECK_EQ(ipcwait_queue_trypop(q, &elem), 0);
		CHECK_EQ(elem, i);
	}
	CHECK_EQ(ipcwait_queue_trypop(q, &elem), -EAGAIN);
}

/* Elements of 8 bytes take 16. */
static void test_trim_after_a_burst(void **state)
{
	struct ipcwait_queue *q = make(8);
	uint64_t elem, before, full, after;
	size_t trimmed;

	(void)state;
	push_and_pop(q, 5000);
	(void)ipcwait_queue_trim(q);
	before = resident();
	for (uint64_t i = 0; i < BURST; i++)
		assert_int_equal(ipcwait_queue_push(q, &i), 0);
	full = stats(q).bytes;
	assert_in_range(full, 9 * BURST, 9 * BURST * 5 / 4);
	assert_true(resident() >= before + 9 * BURST * 3 / 4);
	for (uint64_t i = 0; i < BURST; i++)
		assert_int_equal(ipcwait_queue_trypop(q, &elem), 0);
	assert_in_range(stats(q).bytes, 1, 8192);
	trimmed = ipcwait_queue_trim(q);
	assert_int_equal(stats(q).limbo_bytes, 0);
	after = resident();
	printf("# full: %llu bytes; trimmed %zu; resident before %llu, after %llu\n",
	       (unsigned long long)full, trimmed, (unsigned long long)before,
	       (unsigned long long)after);
	assert_in_range(trimmed, 16 * BURST / 8, full + SLACK);
	if (!SANITIZED)
		assert_true(after <= before + SLACK);
	assert_int_equal(ipcwait_queue_trim(q), 0);
	ipcwait_queue_destroy(q);
}

/* An empty queue is small, and what ends is used again. */
static void test_come_and_go(void **state)
{
	uint64_t before = 0, elem = 1;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		struct ipcwait_queue *q = make(1 + i % 40);

		for (unsigned k = 0; k < i % 5; k++)
			assert_int_equal(ipcwait_queue_push_n(q, (uint64_t[5]){ elem }, 1),
					 1);
		if (i % 3 == 0)
			assert_int_equal(ipcwait_queue_close(q), 0);
		ipcwait_queue_destroy(q);
		if (i == 1000)
			before = resident();
	}
	if (!SANITIZED)
		assert_true(resident() <= before + SLACK);
}

static void test_many_idle(void **state)
{
	static struct ipcwait_queue *q[1000];
	uint64_t bytes = 0, elem;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		q[i] = make(8);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(ipcwait_queue_push(q[i], &i), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		bytes += stats(q[i]).bytes;
		assert_int_equal(ipcwait_queue_pop(q[i], &elem), 0);
		assert_int_equal(elem, i);
		ipcwait_queue_destroy(q[i]);
	}
	assert_in_range(bytes, 1, 2 << 20);
}

/* The child has the queue as it was, and what belongs to it: segments, grace periods, threads. */
static struct ipcwait_queue *inherited;
static uint64_t left;

static bool is_given_back(void *unused)
{
	(void)unused;
	return stats(inherited).limbo_bytes == 0;
}

/*
 * The library's worker has started, as the child of a fork needs it: CHECK_CHILD_MAY_ALLOCATE. When
 * all is given back for the second time, the worker has finished the first, so its cache is made.
 * It ends only after a second without work.
 */
static void await_worker(void)
{
	for (unsigned i = 0; i < 2; i++) {
		push_and_pop(inherited, 5000);
		CHECK(check_eventually(is_given_back, NULL));
	}
}

static void *come_to_push(void *unused)
{
	uint64_t elem = 99;

	(void)unused;
	CHECK_EQ(ipcwait_queue_push(inherited, &elem), 0);
	return NULL;
}

static void pop_from_a_thread(void)
{
	pthread_t thread;
	uint64_t elem;

	CHECK_EQ(pthread_create(&thread, NULL, come_to_push, NULL), 0);
	CHECK_EQ(ipcwait_queue_pop(inherited, &elem), 0);
	CHECK_EQ(elem, 99);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void in_child(void)
{
	struct ipcwait_queue *own = make(24);
	uint64_t elem[3];

	for (uint64_t i = 0; i < left; i++) {
		CHECK_EQ(ipcwait_queue_trypop(inherited, elem), 0);
		CHECK_EQ(elem[0], i);
	}
	push_and_pop(inherited, 5000);
	pop_from_a_thread();
	CHECK_EQ(ipcwait_queue_push(own, elem), 0);
	(void)ipcwait_queue_trim(own);
	CHECK_EQ(stats(own).limbo_bytes, 0);
	ipcwait_queue_destroy(own);
	ipcwait_queue_destroy(inherited);
}

/* ThreadSanitizer ends a child that starts a thread, as liburcu does. */
static void test_fork(void **state)
{
	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		skip();
	inherited = make(8);
	for (unsigned round = 0; round < 5; round++) {
		await_worker();
		left = round * 700;
		for (uint64_t i = 0; i < left; i++)
			assert_int_equal(ipcwait_queue_push(inherited, &i), 0);
		assert_int_equal(check_in_child(in_child), 0);
		for (uint64_t i = 0; i < left; i++) {
			uint64_t elem;

			assert_int_equal(ipcwait_queue_pop(inherited, &elem), 0);
			assert_int_equal(elem, i);
		}
		push_and_pop(inherited, 5000);
		(void)ipcwait_queue_trim(inherited);
		assert_int_equal(stats(inherited).limbo_bytes, 0);
	}
	ipcwait_queue_destroy(inherited);
}

static void retire_until_given_back(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	do {
		push_and_pop(inherited, 1000);
		CHECK_EQ(nanosleep(&pause, NULL), 0);
	} while (stats(inherited).limbo_bytes);
	ipcwait_queue_destroy(inherited);
}

/* What the parent has retired and not given back yet is not taken for the child's own worker. */
static void test_fork_with_a_limbo(void **state)
{
	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		skip();
	inherited = make(8);
	for (unsigned i = 0; i < 5; i++) {
		await_worker();
		push_and_pop(inherited, 5000);
		assert_int_equal(check_in_child(retire_until_given_back), 0);
	}
	ipcwait_queue_destroy(inherited);
}

/* Beside threads that are in the middle of something: it works for the child, whatever is in it. */
static _Atomic bool stop;
static _Atomic unsigned rounds[THREADS];

static void *work(void *arg)
{
	_Atomic unsigned *mine = arg;
	uint64_t elem = 1;

	while (!stop) {
		CHECK_EQ(ipcwait_queue_push(inherited, &elem), 0);
		CHECK_EQ(ipcwait_queue_pop(inherited, &elem), 0);
		(*mine)++;
	}
	return NULL;
}

static bool all_at_work(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < THREADS; i++)
		if (rounds[i] < ROUNDS_FIRST)
			return false;
	return true;
}

static void in_child_beside_threads(void)
{
	uint64_t elem = 7;

	while (ipcwait_queue_trypop(inherited, &elem) == 0)
		continue;
	push_and_pop(inherited, 5000);
	(void)ipcwait_queue_trim(inherited);
	ipcwait_queue_destroy(inherited);
}

static void test_fork_beside_threads(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		skip();
	inherited = make(8);
	await_worker();
	stop = false;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, &rounds[i]), 0);
	assert_true(check_eventually(all_at_work, NULL));
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(check_in_child(in_child_beside_threads), 0);
	stop = true;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	push_and_pop(inherited, 5000);
	(void)ipcwait_queue_trim(inherited);
	ipcwait_queue_destroy(inherited);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trim_after_a_burst),
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_many_idle),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_fork_with_a_limbo),
		cmocka_unit_test(test_fork_beside_threads),
	};

	check_watchdog(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
