/* SPDX-License-Identifier: MIT */
/* <ipcwait/pool.h> with threads: elements cross them, threads end, pools end, the process forks. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/pool_world.h"

static void make(uint64_t most, uint32_t magazine)
{
	assert_int_equal(pool_begin(most, magazine), 0);
}

#define THREADS 4
#define ROUNDS  200
#define HELD    300

/* Marks what it has: an element that two threads have loses a mark. */
static void *hold(void *arg)
{
	uint64_t mark = (uint64_t)(uintptr_t)arg, *elem[HELD];

	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < HELD; i++) {
			elem[i] = ipcwait_pool_get(pool);
			CHECK(elem[i] != NULL);
			*elem[i] = mark << 32 | i;
		}
		if (round % 16 == 0)
			(void)ipcwait_pool_trim(pool);
		for (unsigned i = 0; i < HELD; i++) {
			CHECK_EQ(*elem[i], mark << 32 | i);
			ipcwait_pool_put(pool, elem[i]);
		}
	}
	return NULL;
}

static void run(void *(*body)(void *), unsigned n)
{
	pthread_t thread[64];

	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, body, (void *)(uintptr_t)(i + 1)),
			 0);
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

static void test_nobody_shares(void **state)
{
	(void)state;
	for (uint32_t magazine = 0; magazine < 8; magazine += 1 + magazine) {
		make(0, magazine);
		run(hold, THREADS);
		assert_int_equal(pool_stats().threads, 0);
		pool_end();
	}
}

/* One only takes, the other only puts: every element is seen as it was left. */
#define CROSSINGS 100000
#define ROOM      512

static uint64_t *ring[ROOM];
static struct ipcwait_sem filled = IPCWAIT_SEM_INIT(0), room = IPCWAIT_SEM_INIT(ROOM);

static void *take(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < CROSSINGS; i++) {
		uint64_t *elem = ipcwait_pool_get(pool);

		CHECK(elem != NULL);
		*elem = i;
		CHECK_EQ(ipcwait_sem_wait(&room), 0);
		ring[i % ROOM] = elem;
		CHECK_EQ(ipcwait_sem_post(&filled), 0);
	}
	return NULL;
}

static void *put(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < CROSSINGS; i++) {
		CHECK_EQ(ipcwait_sem_wait(&filled), 0);
		CHECK_EQ(*ring[i % ROOM], i);
		ipcwait_pool_put(pool, ring[i % ROOM]);
		CHECK_EQ(ipcwait_sem_post(&room), 0);
	}
	return NULL;
}

static void test_across(void **state)
{
	pthread_t taker, putter;

	(void)state;
	make(0, 0);
	CHECK_EQ(pthread_create(&taker, NULL, take, NULL), 0);
	CHECK_EQ(pthread_create(&putter, NULL, put, NULL), 0);
	CHECK_EQ(pthread_join(taker, NULL), 0);
	CHECK_EQ(pthread_join(putter, NULL), 0);
	/* A depot is visited by either once in a magazine of 64. */
	assert_in_range(pool_stats().exchanges, 1, 2 * CROSSINGS / 64);
	assert_in_range(pool_stats().bytes, 1, 262144);
	pool_end();
}

/* The bound holds whoever has the elements. */
static void *take_all(void *unused)
{
	void *elem[64];
	unsigned n = 0;

	(void)unused;
	for (int round = 0; round < 2000; round++) {
		n = 0;
		while (n < 64 && (elem[n] = ipcwait_pool_get(pool)))
			n++;
		CHECK(pool_stats().used <= 128);
		while (n)
			ipcwait_pool_put(pool, elem[--n]);
	}
	return NULL;
}

static void test_bound(void **state)
{
	(void)state;
	make(128, 4);
	run(take_all, THREADS);
	pool_end();
}

/* Threads that end while others work, and one that uses the pool when its cache is gone. */
static pthread_key_t late;

/* ThreadSanitizer forgets a thread in the last round, and dies of what that does then. */
#define LAST_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - CHECK_DEFERS_SIGNALS)

/* In every round of the destructors, after the pool's own has run in the first. */
static void use_late(void *arg)
{
	static _Thread_local int rounds;

	ipcwait_pool_put(pool, ipcwait_pool_get(pool));
	if (++rounds < LAST_ROUND)
		CHECK_EQ(pthread_setspecific(late, arg), 0);
	else
		ipcwait_pool_put(pool, arg);
}

static void *come_and_go(void *arg)
{
	void *elem = ipcwait_pool_get(pool);

	(void)arg;
	CHECK(elem != NULL);
	ipcwait_pool_put(pool, ipcwait_pool_get(pool));
	CHECK_EQ(pthread_setspecific(late, elem), 0);
	return NULL;
}

static void test_threads_end(void **state)
{
	(void)state;
	make(0, 0);
	CHECK_EQ(pthread_key_create(&late, use_late), 0);
	for (int i = 0; i < 50; i++)
		run(come_and_go, 16);
	assert_int_equal(pool_stats().threads, 0);
	assert_in_range(pool_stats().bytes, 0, 131072);
	CHECK_EQ(pthread_key_delete(late), 0);
	pool_end();
}

/* A pool ends before a thread that has used it, which then uses others. */
static struct ipcwait_sem go = IPCWAIT_SEM_INIT(0), done = IPCWAIT_SEM_INIT(0);

static void *outlive(void *unused)
{
	(void)unused;
	for (int i = 0; i < 30; i++) {
		CHECK_EQ(ipcwait_sem_wait(&go), 0);
		ipcwait_pool_put(pool, ipcwait_pool_get(pool));
		CHECK(ipcwait_pool_get(pool) != NULL);
		CHECK_EQ(ipcwait_sem_post(&done), 0);
	}
	CHECK_EQ(ipcwait_sem_wait(&go), 0);
	return NULL;
}

static void test_pools_end(void **state)
{
	pthread_t thread;

	(void)state;
	CHECK_EQ(pthread_create(&thread, NULL, outlive, NULL), 0);
	for (int i = 0; i < 30; i++) {
		make(0, 0);
		CHECK_EQ(ipcwait_sem_post(&go), 0);
		CHECK_EQ(ipcwait_sem_wait(&done), 0);
		assert_int_equal(pool_stats().threads, 1);
		ipcwait_pool_destroy(pool);
	}
	CHECK_EQ(ipcwait_sem_post(&go), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* The child has what the parent's other threads did not have in hand, and both go on. */
static _Atomic bool stop;
static _Atomic unsigned at_work;

static void *work(void *arg)
{
	(void)hold(arg);
	at_work++;
	while (!stop)
		(void)hold(arg);
	return NULL;
}

static bool both_at_work(void *unused)
{
	(void)unused;
	return at_work == 2;
}

static void in_child(void)
{
	(void)hold((void *)99);
	if (CHECK_CHILD_MAY_ALLOCATE)
		run(hold, 2);
	(void)ipcwait_pool_trim(pool);
	ipcwait_pool_destroy(pool);
}

static void test_fork(void **state)
{
	pthread_t thread[2];

	(void)state;
	make(0, 3);
	stop = false;
	at_work = 0;
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)(i + 1)),
			 0);
	assert_true(check_eventually(both_at_work, NULL));
	for (int i = 0; i < 20; i++)
		assert_int_equal(check_in_child(in_child), 0);
	stop = true;
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	pool_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_shares), cmocka_unit_test(test_across),
		cmocka_unit_test(test_bound),         cmocka_unit_test(test_threads_end),
		cmocka_unit_test(test_pools_end),     cmocka_unit_test(test_fork),
	};

	check_watchdog(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
