/* SPDX-License-Identifier: MIT */
/*
 * Processes that fork while other threads of theirs are anywhere in the library. The child has
 * copies of private objects, shares the others, and can use the library as if it were new.
 * (A fork in a signal handler, at every instruction of a call: step_test.c.)
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "region.h"

#define THREADS 4
#define RUN_NS  INT64_C(3000000000)

/* In the child everything has an end. */
#define PATIENCE_NS INT64_C(100000000000)

/* What the threads use, one with each preset: copied by a fork. */
static struct ipcwait_sem private_sem[IPCWAIT_BLOCK + 1];
static uint32_t private_word;
static struct ipcwait_window private_window;
static struct region *shared;
static bool over;

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static void use_the_word(uint64_t n)
{
	uint32_t seen = __atomic_load_n(&private_word, __ATOMIC_ACQUIRE);
	int result;

	if (n % 2) {
		__atomic_fetch_add(&private_word, 1, __ATOMIC_RELEASE);
		CHECK(ipcwait_futex_wake(&private_word, UINT32_MAX, IPCWAIT_PRIVATE) >= 0);
		return;
	}
	result = ipcwait_futex_wait(&private_word, seen, ipcwait_deadline_in_ns(50000),
				    &private_window, IPCWAIT_PRIVATE);
	CHECK(result == 0 || result == -EAGAIN || result == -ETIMEDOUT);
}

/* Waits and posts of all kinds, more or less balanced. */
static void *use_everything(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	while (!is_over()) {
		uint64_t n = check_random(&seed);
		struct ipcwait_sem *s = &private_sem[1 + n % IPCWAIT_BLOCK];
		int result = 0;

		if (n >> 32 & 1)
			CHECK_EQ(ipcwait_sem_post_n(s, 1 + (n >> 33 & 1)), 0);
		else
			result = ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(100000));
		CHECK(result == 0 || result == -ETIMEDOUT);
		if (n >> 40 & 1)
			use_the_word(n >> 41);
	}
	return NULL;
}

/* For the child it is somebody in another process. */
static void *answer(void *arg)
{
	while (!is_over()) {
		int result = ipcwait_sem_wait_until(&shared->items,
						    ipcwait_deadline_in_ns(10000000));

		CHECK(result == 0 || result == -ETIMEDOUT);
		if (result == 0)
			CHECK_EQ(ipcwait_sem_post(&shared->done), 0);
	}
	return arg;
}

static int64_t soon(void)
{
	return ipcwait_deadline_in_ns(PATIENCE_NS);
}

static void expire(struct ipcwait_sem *s)
{
	CHECK_EQ(ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(20000)), -ETIMEDOUT);
}

/* As many tokens come out as go in, whoever was counted at the time of the fork. */
static void use_a_copy(struct ipcwait_sem *s)
{
	while (ipcwait_sem_trywait(s) == 0)
		continue;
	expire(s);
	CHECK_EQ(ipcwait_sem_post_n(s, 2), 0);
	CHECK_EQ(ipcwait_sem_wait_until(s, soon()), 0);
	CHECK_EQ(ipcwait_sem_wait_until(s, soon()), 0);
	expire(s);
}

static void use_a_new_one(void)
{
	struct ipcwait_sem s;

	CHECK_EQ(ipcwait_sem_init(&s, 0, IPCWAIT_PRIVATE), 0);
	use_a_copy(&s);
	CHECK_EQ(sem_word(&s), 0);
	CHECK_EQ(ipcwait_sem_fini(&s), 0);
}

static void use_only_new_ones(struct region *r)
{
	(void)r;
	use_a_new_one();
}

static uint64_t expired(void)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	CHECK(st.usable_cpus >= 1 && st.block_cost_ns > 0);
	return st.kind[IPCWAIT_KIND_SEM].expired;
}

static void use_what_the_parent_has(struct region *r)
{
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
		CHECK_EQ(ipcwait_sem_wait_until(&r->done, soon()), 0);
	}
}

/* The counters go on from where the parent's were, in one thread only. */
static void be_the_child(struct region *r)
{
	uint64_t before;

	check_watchdog(40);
	before = expired();
	use_a_new_one();
	for (int i = 1; i <= IPCWAIT_BLOCK; i++)
		use_a_copy(&private_sem[i]);
	CHECK_EQ(expired() - before, 2 + 2 * IPCWAIT_BLOCK);
	CHECK(ipcwait_futex_wake(&private_word, UINT32_MAX, IPCWAIT_PRIVATE) == 0);
	use_what_the_parent_has(r);
}

static void fork_beside_busy_threads(void)
{
	int64_t end = ipcwait_deadline_in_ns(RUN_NS);
	pthread_t thread[THREADS], answerer;
	unsigned forks = 0;

	shared = region_create();
	for (int i = 1; i <= IPCWAIT_BLOCK; i++) {
		CHECK_EQ(ipcwait_sem_init(&private_sem[i], 0, IPCWAIT_PRIVATE), 0);
		CHECK_EQ(ipcwait_window_set_preset(&private_sem[i].window,
						   (enum ipcwait_preset)i),
			 0);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, use_everything, (void *)i), 0);
	CHECK_EQ(pthread_create(&answerer, NULL, answer, NULL), 0);
	for (; ipcwait_now_ns() < end; forks++)
		region_join(region_fork(shared, be_the_child));
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(pthread_join(answerer, NULL), 0);
	CHECK_EQ(sem_word(&shared->items), 0);
	CHECK_EQ(sem_word(&shared->done), 0);
	print_message("%u forks\n", forks);
}

/* The child is the first to learn about the machine: the parent has not had to wait. */
static void fork_before_the_first_wait(void)
{
	struct region *r = region_create();

	CHECK_EQ(ipcwait_sem_post_n(&private_sem[1], 2), 0);
	CHECK_EQ(ipcwait_sem_trywait(&private_sem[1]), 0);
	for (int i = 0; i < 3; i++)
		region_join(region_fork(r, use_only_new_ones));
}

static void *wait_for_the_first_time(void *arg)
{
	struct ipcwait_sem *s = arg;

	expire(s);
	return NULL;
}

static unsigned pause_us;

/* Threads learn about the machine at the moment of the fork: the child does not wait for them. */
static void fork_into_the_first_wait(void)
{
	struct region *r = region_create();
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, wait_for_the_first_time,
					&private_sem[i]),
			 0);
	for (unsigned i = 0; i < 3; i++) {
		(void)usleep(pause_us);
		region_join(region_fork(r, use_only_new_ones));
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

static void fork_into_many_first_waits(void)
{
	for (pause_us = 0; pause_us < 100; pause_us++)
		CHECK_EQ(check_in_child(fork_into_the_first_wait), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(fork_beside_busy_threads),
		CHILD_TEST(fork_before_the_first_wait),
		CHILD_TEST(fork_into_many_first_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
