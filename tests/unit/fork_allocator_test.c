/* SPDX-License-Identifier: MIT */
/*
 * A program with an allocator of its own, whose locks are held over a fork, as jemalloc's are. It
 * registers its handlers after the library, so before a fork they run first: what the library waits
 * for then must not allocate.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define FORKS       200
#define PUSHES      2000
#define OBJECTS     600
#define PROCESSES   40
#define FIRST_FORKS 4

/* glibc's, by names that a program may call. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *memory);

static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;

/* In a process whose allocator has handlers of fork. */
static bool locks;

static void lock_heap(void)
{
	if (locks)
		CHECK_EQ(pthread_mutex_lock(&heap), 0);
}

static void unlock_heap(void)
{
	if (locks)
		CHECK_EQ(pthread_mutex_unlock(&heap), 0);
}

void *malloc(size_t bytes)
{
	void *memory;

	lock_heap();
	memory = __libc_malloc(bytes);
	unlock_heap();
	return memory;
}

void *calloc(size_t n, size_t bytes)
{
	void *memory;

	lock_heap();
	memory = __libc_calloc(n, bytes);
	unlock_heap();
	return memory;
}

void *realloc(void *memory, size_t bytes)
{
	lock_heap();
	memory = __libc_realloc(memory, bytes);
	unlock_heap();
	return memory;
}

void *aligned_alloc(size_t align, size_t bytes)
{
	void *memory;

	lock_heap();
	memory = __libc_memalign(align, bytes);
	unlock_heap();
	return memory;
}

void free(void *memory)
{
	lock_heap();
	__libc_free(memory);
	unlock_heap();
}

static void have_handlers(void)
{
	locks = true;
	CHECK_EQ(pthread_atfork(lock_heap, unlock_heap, unlock_heap), 0);
}

static atomic_bool over;

/* Each thread's first use of a queue and of a pool allocates, and so does the worker's. */
static void *use_queues(void *unused)
{
	struct ipcwait_queue_params params = { .elem_size = 8 };

	while (!over) {
		struct ipcwait_queue *queue = ipcwait_queue_create(&params);
		uint64_t x = 1;

		CHECK(queue != NULL);
		for (int i = 0; i < PUSHES; i++)
			CHECK_EQ(ipcwait_queue_push(queue, &x), 0);
		while (!ipcwait_queue_trypop(queue, &x))
			continue;
		ipcwait_queue_destroy(queue);
		(void)ipcwait_queue_trim(NULL);
	}
	return unused;
}

static void *use_pools(void *unused)
{
	struct ipcwait_pool_params params = { .elem_size = 64, .magazine = 4 };
	static void *object[OBJECTS];

	while (!over) {
		struct ipcwait_pool *pool;

		CHECK_EQ(ipcwait_pool_create(&params, &pool), 0);
		for (int i = 0; i < OBJECTS; i++)
			object[i] = ipcwait_pool_get(pool);
		for (int i = 0; i < OBJECTS; i++)
			ipcwait_pool_put(pool, object[i]);
		ipcwait_pool_destroy(pool);
	}
	return unused;
}

/* The first sleep of a process with a descriptor makes the thread that watches it. */
static void *wait_for_any(void *unused)
{
	uint32_t word = 0;
	int ends[2];
	struct pollfd fd = { .events = POLLIN };
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_FUTEX,
		  .flags = IPCWAIT_PRIVATE,
		  .object = &word },
		{ .type = IPCWAIT_WAITABLE_FD, .object = &fd },
	};

	CHECK_EQ(pipe(ends), 0);
	fd.fd = ends[0];
	while (!over)
		CHECK_EQ(ipcwait_wait_any(set, 2, ipcwait_deadline_in_ns(1000000), NULL),
			 -ETIMEDOUT);
	return unused;
}

static void fork_beside(void *(*use)(void *unused), int times)
{
	pthread_t thread;

	have_handlers();
	CHECK_EQ(pthread_create(&thread, NULL, use, NULL), 0);
	for (int i = 0; i < times; i++) {
		pid_t child = fork();

		if (!child) {
			free(malloc(1));
			_exit(0);
		}
		CHECK_EQ(check_reap(child), 0);
	}
	over = true;
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void forks_beside_queues(void)
{
	fork_beside(use_queues, FORKS);
}

static void forks_beside_pools(void)
{
	fork_beside(use_pools, FORKS);
}

static void forks_beside_a_first_sleep(void)
{
	fork_beside(wait_for_any, FIRST_FORKS);
}

static void forks_beside_descriptors(void)
{
	for (int i = 0; i < PROCESSES; i++)
		CHECK_EQ(check_in_child(forks_beside_a_first_sleep), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(forks_beside_queues),
		CHILD_TEST(forks_beside_pools),
		CHILD_TEST(forks_beside_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
