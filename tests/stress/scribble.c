/* SPDX-License-Identifier: MIT */
/*
 * Another process scribbles on a shared semaphore while threads work with it: on the real kernel,
 * what tests/fuzz/sem_tamper.c does step by step. Every call ends, by its deadline, with a result
 * that <ipcwait/sem.h> lists, and nothing beside the semaphore changes.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "stress.h"

#define WORKERS       3
#define PAGE_SIZE     4096
#define OFFSET        64
#define WAIT_MOST_NS  200000
#define PAUSE_MOST_US 100

/* Mostly no tokens are left, so that waits have to wait. */
#define VALUE_TAKEN 0x700

/* A call that takes this much longer than its deadline has hung. */
#define LATE_MOST_NS INT64_C(60000000000)

static struct {
	unsigned char *page;
	struct ipcwait_sem *sem;
	uint64_t seed;
	int64_t calls;
} scribble;

static void change(uint64_t *words, uint64_t r)
{
	unsigned at = r >> 8 & 3;

	switch (r & 3) {
	case 0:
		__atomic_store_n(&words[at], 0, __ATOMIC_RELAXED);
		break;
	case 1:
		__atomic_fetch_xor(&words[at], UINT64_C(1) << (r >> 16 & 63),
				   __ATOMIC_RELAXED);
		break;
	case 2:
		__atomic_store_n((unsigned char *)words + (r >> 16 & 31),
				 (unsigned char)(r >> 24), __ATOMIC_RELAXED);
		break;
	default:
		__atomic_store_n(&words[at], r * r, __ATOMIC_RELAXED);
		break;
	}
}

/* Ends with its parent. */
__attribute__((noreturn)) static void scribble_for_ever(void)
{
	uint64_t seed = scribble.seed + 1;

	CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	for (;;) {
		uint64_t r = check_random(&seed);

		for (unsigned n = r % 16; n; n--)
			change((uint64_t *)scribble.sem, check_random(&seed));
		if (r & VALUE_TAKEN)
			__atomic_fetch_and(&scribble.sem->word.v, ~WORD(0x7fffffff, 0, 0),
					   __ATOMIC_RELAXED);
		if (r >> 60 == 0)
			(void)usleep((useconds_t)(r >> 8) % PAUSE_MOST_US);
	}
}

static void wait_until(struct ipcwait_sem *s, uint64_t r)
{
	int64_t deadline = ipcwait_deadline_in_ns((int64_t)(r >> 8) % WAIT_MOST_NS);
	int result = ipcwait_sem_wait_until(s, deadline);

	CHECK(result == 0 || result == -ETIMEDOUT || result == -EINVAL);
	CHECK(ipcwait_now_ns() < deadline + LATE_MOST_NS);
}

static void call(struct ipcwait_sem *s, uint64_t r)
{
	int result;

	switch (r & 3) {
	case 0:
		result = ipcwait_sem_trywait(s);
		CHECK(result == 0 || result == -EAGAIN);
		break;
	case 1:
		result = ipcwait_sem_post_n(s, (uint32_t)(r >> 8) % 8);
		CHECK(result == 0 || result == -EOVERFLOW || result == -EINVAL);
		break;
	case 2:
		CHECK(ipcwait_sem_value(s) >= 0);
		break;
	default:
		wait_until(s, r);
		break;
	}
}

static void *work(void *arg)
{
	uint64_t seed = scribble.seed + 2 + (uintptr_t)arg;

	errno = 4711;
	while (!stress_over()) {
		call(scribble.sem, check_random(&seed));
		__atomic_fetch_add(&scribble.calls, 1, __ATOMIC_RELAXED);
	}
	CHECK_EQ(errno, 4711);
	return NULL;
}

static void check_surroundings(void)
{
	for (unsigned i = 0; i < PAGE_SIZE; i++)
		if (i < OFFSET || i >= OFFSET + sizeof(*scribble.sem))
			CHECK_EQ(scribble.page[i], 0);
}

void stress_scribble(const struct stress *run)
{
	pthread_t thread[WORKERS];
	struct ipcwait_stats st;
	pid_t child;

	scribble.seed = run->seed;
	scribble.page = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(scribble.page != MAP_FAILED);
	scribble.sem = (struct ipcwait_sem *)(void *)(scribble.page + OFFSET);
	stress_watch(scribble.sem);
	(void)fflush(NULL);
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
		scribble_for_ever();
	for (uintptr_t i = 0; i < WORKERS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, work, (void *)i), 0);
	for (unsigned i = 0; i < WORKERS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK(kill(child, SIGKILL) == 0);
	CHECK(WIFSIGNALED(check_reap(child)));
	check_surroundings();
	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	printf("calls %" PRId64 " sleeps %" PRIu64 "\n", scribble.calls,
	       st.kind[IPCWAIT_KIND_SEM].futex_waits);
}
