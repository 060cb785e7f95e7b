/* SPDX-License-Identifier: MIT */
/*
 * Threads come and go, by the thousand: they return, exit, are cancelled, or end with their
 * process. The library keeps nothing of a thread that has gone.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "common/sleeper.h"

#define BATCHES 100
#define BATCH   40

#define LONG_NS INT64_C(3600000000000)

static struct ipcwait_sem items, answers;

static void expire(struct ipcwait_sem *s)
{
	CHECK_EQ(ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(1000)), -ETIMEDOUT);
}

/* One thread posts for each that waits. */
static void *post_once(void *arg)
{
	CHECK_EQ(ipcwait_sem_post(&items), 0);
	return arg;
}

static void *wait_once(void *arg)
{
	struct ipcwait_sem own = IPCWAIT_SEM_INIT(0);

	CHECK_EQ(ipcwait_sem_wait(&items), 0);
	expire(&own);
	if (arg)
		pthread_exit(arg);
	return NULL;
}

static uint64_t expired(void)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st.kind[IPCWAIT_KIND_SEM].expired;
}

static void thousands_of_threads(void)
{
	uint64_t before = expired();

	for (int batch = 0; batch < BATCHES; batch++) {
		pthread_t thread[BATCH];

		for (uintptr_t i = 0; i < BATCH; i++)
			CHECK_EQ(pthread_create(&thread[i], NULL,
						i % 2 ? post_once : wait_once,
						(void *)(i & 2)),
				 0);
		for (int i = 0; i < BATCH; i++)
			CHECK_EQ(pthread_join(thread[i], NULL), 0);
	}
	CHECK_EQ(sem_word(&items), 0);
	CHECK_EQ(expired() - before, BATCHES * BATCH / 2);
	CHECK_EQ(ipcwait_sem_fini(&items), 0);
}

static pthread_key_t key;

/* The last that runs of a thread. */
static void use_the_library(void *arg)
{
	struct ipcwait_sem own = IPCWAIT_SEM_INIT(0);

	expire(&own);
	CHECK_EQ(ipcwait_sem_post(arg), 0);
}

static void *leave_it_to_the_key(void *arg)
{
	CHECK_EQ(pthread_setspecific(key, arg), 0);
	return NULL;
}

static void in_a_key_destructor(void)
{
	CHECK_EQ(pthread_key_create(&key, use_the_library), 0);
	for (int i = 0; i < 100; i++) {
		pthread_t thread;

		CHECK_EQ(pthread_create(&thread, NULL, leave_it_to_the_key, &items), 0);
		CHECK_EQ(ipcwait_sem_wait(&items), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
	}
	CHECK_EQ(sem_word(&items), 0);
}

/* When a thread is cancelled: before its wait, some time after it has begun, asleep. */
enum cancelled { BEFORE, IN_BETWEEN, ASLEEP, MOMENTS };

/* Its wait, which it must come back from. */
static struct {
	enum cancelled when;
	enum ipcwait_preset preset;
	int64_t deadline_ns;
	uint32_t word;
	bool bare; /* it waits on the word */
} wait_;

static void *be_cancelled_afterwards(void *arg)
{
	int result;

	if (wait_.when == BEFORE)
		CHECK_EQ(pthread_cancel(pthread_self()), 0);
	CHECK_EQ(ipcwait_sem_post(&answers), 0);
	if (wait_.bare)
		result = ipcwait_futex_wait(&wait_.word, 0, wait_.deadline_ns,
					    &items.window, 0);
	else
		result = ipcwait_sem_wait_until(&items, wait_.deadline_ns);
	CHECK(result == 0 || (wait_.bare && result == -EAGAIN));
	CHECK_EQ(ipcwait_sem_post(&answers), 0);
	pthread_testcancel();
	check_failed(__FILE__, __LINE__, "it was not cancelled");
	return arg;
}

static void cancel_one(void)
{
	pthread_t thread;
	void *result;

	wait_.word = 0;
	CHECK_EQ(ipcwait_sem_init(&items, 0, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&items.window, wait_.preset), 0);
	CHECK_EQ(pthread_create(&thread, NULL, be_cancelled_afterwards, NULL), 0);
	CHECK_EQ(ipcwait_sem_wait(&answers), 0);
	if (wait_.when != IN_BETWEEN && !wait_.bare)
		sleeper_await(&items, 1);
	if (wait_.when != BEFORE)
		CHECK_EQ(pthread_cancel(thread), 0);
	__atomic_store_n(&wait_.word, 1, __ATOMIC_RELEASE);
	CHECK(ipcwait_futex_wake(&wait_.word, 1, 0) >= 0);
	CHECK_EQ(ipcwait_sem_post(&items), 0);
	CHECK_EQ(ipcwait_sem_wait(&answers), 0);
	CHECK_EQ(pthread_join(thread, &result), 0);
	CHECK(result == PTHREAD_CANCELED);
	CHECK_EQ(sem_word(&items), WORD(wait_.bare, 0, 0));
}

static void cancelled_in_a_wait(void)
{
	for (int preset = IPCWAIT_ADAPTIVE; preset <= IPCWAIT_BLOCK; preset++) {
		for (int i = 0; i < 120; i++) {
			wait_.preset = (enum ipcwait_preset)preset;
			wait_.when = (enum cancelled)(i % MOMENTS);
			wait_.bare = i % 4 == 0;
			wait_.deadline_ns =
				i % 5 ? IPCWAIT_FOREVER : ipcwait_deadline_in_ns(LONG_NS);
			cancel_one();
		}
	}
}

static void *use_for_ever(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	for (;;) {
		if (check_random(&seed) % 2)
			CHECK_EQ(ipcwait_sem_post(&items), 0);
		else
			(void)!ipcwait_sem_wait_until(&items,
						      ipcwait_deadline_in_ns(50000));
	}
	return NULL;
}

static unsigned pause_us;

static void end_beside_busy_threads(void)
{
	struct sleeper sleeper;

	sleeper_start(&sleeper, &answers, IPCWAIT_FOREVER);
	for (uintptr_t i = 1; i <= 3; i++) {
		pthread_t thread;

		CHECK_EQ(pthread_create(&thread, NULL, use_for_ever, (void *)i), 0);
	}
	(void)usleep(pause_us);
	exit(EXIT_SUCCESS);
}

/* What the library does at exit does not wait for anybody. */
static void the_process_ends(void)
{
	for (pause_us = 0; pause_us < 3000; pause_us += 50)
		CHECK_EQ(check_in_child(end_beside_busy_threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(thousands_of_threads),
		CHILD_TEST(in_a_key_destructor),
		CHILD_TEST(cancelled_in_a_wait),
		CHILD_TEST(the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
