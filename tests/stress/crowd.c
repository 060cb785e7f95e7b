/* SPDX-License-Identifier: MIT */
/*
 * More threads than CPUs move tokens between four semaphores. In the end the posts stop, and
 * whoever still sleeps then must not do so beside a token.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "stress.h"

#define SEMS    4
#define THREADS 16
#define TOKENS  9

static struct {
	struct ipcwait_sem sem[SEMS];
	bool over;
	uint64_t seed;
	int64_t moves, taken; /* taken: not posted again */
} crowd;

/*
 * Half of the threads have deadlines always, lest all of them wait for tokens that lie in
 * the other semaphores.
 */
static int take(struct ipcwait_sem *s, uint64_t r, bool patient)
{
	if (patient && r % 3)
		return ipcwait_sem_wait(s);
	return ipcwait_sem_wait_until(s,
				      ipcwait_deadline_in_ns((int64_t)(r >> 16) % 300000));
}

static void *move_tokens(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	uint64_t seed = crowd.seed + me * 7919;

	while (!__atomic_load_n(&crowd.over, __ATOMIC_RELAXED)) {
		uint64_t r = check_random(&seed);
		int result = take(&crowd.sem[r >> 60 & 3], r, me % 2);

		CHECK(result == 0 || result == -ETIMEDOUT);
		if (result)
			continue;
		if (__atomic_load_n(&crowd.over, __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&crowd.taken, 1, __ATOMIC_RELAXED);
			break;
		}
		CHECK_EQ(ipcwait_sem_post(&crowd.sem[r >> 58 & 3]), 0);
		__atomic_fetch_add(&crowd.moves, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void release_the_rest(void)
{
	for (unsigned i = 0; i < SEMS; i++)
		CHECK_EQ(ipcwait_sem_post_n(&crowd.sem[i], THREADS), 0);
}

static void run_once(const struct stress *run, int64_t ns)
{
	const struct timespec pause = { ns / 1000000000, ns % 1000000000 };
	pthread_t thread[THREADS];
	int64_t left = 0;

	crowd.over = false;
	crowd.taken = 0;
	for (unsigned i = 0; i < SEMS; i++)
		CHECK_EQ(ipcwait_sem_init(&crowd.sem[i], 0, run->flags), 0);
	CHECK_EQ(ipcwait_sem_post_n(&crowd.sem[0], TOKENS), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, move_tokens, (void *)i), 0);
	(void)nanosleep(&pause, NULL);
	__atomic_store_n(&crowd.over, true, __ATOMIC_RELAXED);
	stress_settles();
	release_the_rest();
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	for (unsigned i = 0; i < SEMS; i++) {
		left += ipcwait_sem_value(&crowd.sem[i]);
		CHECK_EQ(word_sleepers(sem_word(&crowd.sem[i])), 0);
	}
	CHECK_EQ(left + crowd.taken, TOKENS + SEMS * THREADS);
	crowd.seed += 104729;
}

void stress_crowd(const struct stress *run)
{
	crowd.seed = run->seed;
	for (unsigned i = 0; i < SEMS; i++)
		stress_watch(&crowd.sem[i]);
	while (!stress_over())
		run_once(run, 30000000);
	printf("moves %" PRId64 "\n", crowd.moves);
}
