/* SPDX-License-Identifier: MIT */
/*
 * Rounds of a known number of tokens: producers post them in pieces, consumers take them in
 * every way there is, and signals hit all of them. A round ends when the last token is taken,
 * so a wake-up that gets lost ends the test. Handlers post too: to a semaphore of their own,
 * or to the one in the middle of the storm.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "stress.h"

#define PRODUCERS 3
#define CONSUMERS 4
#define WORKERS   (PRODUCERS + CONSUMERS)

static struct {
	struct ipcwait_sem sem;
	struct ipcwait_sem side;  /* for tokens of handlers */
	bool handlers_post;       /* to sem rather than to side */
	int64_t to_post, to_take; /* left of this round */
	int64_t posted, taken;    /* on sem, by workers and handlers */
	int64_t side_posted, side_taken;
	int64_t expired, interrupted;
	bool slow; /* this round */
	bool over; /* no further round */
	uint64_t seed;
	pthread_barrier_t barrier;
	pthread_t worker[WORKERS];
	bool ended; /* no further signal */
} storm;

static void add(int64_t *counter, int64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Claim up to @n of what is left. Returns how many. */
static int64_t claim(int64_t *left, int64_t n)
{
	int64_t have = __atomic_load_n(left, __ATOMIC_RELAXED);
	int64_t got;

	do {
		got = have < n ? have : n;
		if (got <= 0)
			return 0;
	} while (!__atomic_compare_exchange_n(left, &have, have - got, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return got;
}

static void on_signal(int signal)
{
	int saved = errno;

	(void)signal;
	errno = 4711;
	if (storm.handlers_post) {
		add(&storm.posted, 1);
		CHECK_EQ(ipcwait_sem_post(&storm.sem), 0);
		add(&storm.to_take, 1);
	} else {
		add(&storm.side_posted, 1);
		CHECK_EQ(ipcwait_sem_post(&storm.side), 0);
	}
	CHECK_EQ(errno, 4711);
	errno = saved;
}

/* Three rounds in four are slow, so that consumers fall asleep, expire and are interrupted. */
static void dawdle(uint64_t r)
{
	const struct timespec pause = { 0, (long)(r >> 32) % 20000 };

	if (storm.slow && r % 2)
		(void)nanosleep(&pause, NULL);
}

static void produce_round(uint64_t *seed)
{
	int64_t n;

	while ((n = claim(&storm.to_post, 1 + (int64_t)(check_random(seed) % 5)))) {
		dawdle(check_random(seed));
		add(&storm.posted, n);
		if (n == 1)
			CHECK_EQ(ipcwait_sem_post(&storm.sem), 0);
		else
			CHECK_EQ(ipcwait_sem_post_n(&storm.sem, (uint32_t)n), 0);
	}
}

static int take_in_some_way(uint64_t *seed)
{
	uint64_t r = check_random(seed);
	int result;

	switch (r % 4) {
	case 0:
		result = ipcwait_sem_trywait(&storm.sem);
		return result == -EAGAIN ? ipcwait_sem_wait(&storm.sem) : result;
	case 1:
	case 2:
		return ipcwait_sem_wait_until(
			&storm.sem, ipcwait_deadline_in_ns((int64_t)(r >> 8) % 200000));
	default:
		return ipcwait_sem_wait(&storm.sem);
	}
}

static void consume_round(uint64_t *seed)
{
	while (claim(&storm.to_take, 1)) {
		int result = take_in_some_way(seed);

		while (result != 0) {
			CHECK_EQ(result, -ETIMEDOUT);
			add(&storm.expired, 1);
			result = take_in_some_way(seed);
		}
		add(&storm.taken, 1);
	}
}

/* Between two barriers, in one thread; handlers may run all the same. */
static void prepare_round(uint64_t *seed)
{
	int64_t tokens = 1 + (int64_t)(check_random(seed) % 100);

	if (!storm.handlers_post) {
		CHECK_EQ(sem_word(&storm.sem), 0);
		CHECK_EQ(storm.posted, storm.taken);
	}
	storm.slow = check_random(seed) % 4;
	storm.over = stress_over();
	if (storm.over)
		return;
	add(&storm.to_post, tokens);
	add(&storm.to_take, tokens);
}

static void *work(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	uint64_t seed = storm.seed + me * 7919;

	for (;;) {
		pthread_barrier_wait(&storm.barrier);
		if (me == 0)
			prepare_round(&seed);
		pthread_barrier_wait(&storm.barrier);
		if (storm.over)
			return NULL;
		if (me < PRODUCERS)
			produce_round(&seed);
		else
			consume_round(&seed);
	}
}

static void *work_aside(void *arg)
{
	while (!__atomic_load_n(&storm.ended, __ATOMIC_ACQUIRE)) {
		int result = ipcwait_sem_wait_until(&storm.side,
						    ipcwait_deadline_in_ns(3000000));

		if (result == 0)
			add(&storm.side_taken, 1);
		else if (result == -EINTR)
			add(&storm.interrupted, 1);
		else
			CHECK_EQ(result, -ETIMEDOUT);
	}
	return arg;
}

/* Signals with and without SA_RESTART, to one worker after the other, until the end. */
static void *thunder(void *arg)
{
	uint64_t seed = storm.seed + 104729;

	while (!__atomic_load_n(&storm.ended, __ATOMIC_ACQUIRE)) {
		uint64_t r = check_random(&seed);
		struct timespec pause = { 0, (long)(r >> 40) % 60000 };

		CHECK_EQ(pthread_kill(storm.worker[r % WORKERS],
				      r & 256 ? SIGUSR1 : SIGUSR2),
			 0);
		if (r & 512)
			(void)nanosleep(&pause, NULL);
	}
	return arg;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	action.sa_flags = SA_RESTART;
	CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
}

static void print_totals(void)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	printf("tokens %" PRId64 ", on the side %" PRId64 ", expired %" PRId64
	       ", interrupted %" PRId64 ", sleeps %" PRIu64 ", wakes %" PRIu64 "\n",
	       storm.posted, storm.side_posted, storm.expired, storm.interrupted,
	       st.kind[IPCWAIT_KIND_SEM].futex_waits,
	       st.kind[IPCWAIT_KIND_SEM].futex_wakes);
}

void stress_storm(const struct stress *run, bool handlers_post)
{
	pthread_t aside, thunderer;

	storm.handlers_post = handlers_post;
	storm.seed = run->seed;
	CHECK_EQ(ipcwait_sem_init(&storm.sem, 0, run->flags), 0);
	CHECK_EQ(ipcwait_sem_init(&storm.side, 0, run->flags | IPCWAIT_INTERRUPTIBLE), 0);
	stress_watch(&storm.sem);
	stress_watch(&storm.side);
	catch_signals();
	CHECK_EQ(pthread_barrier_init(&storm.barrier, NULL, WORKERS), 0);
	for (uintptr_t i = 0; i < WORKERS; i++)
		CHECK_EQ(pthread_create(&storm.worker[i], NULL, work, (void *)i), 0);
	CHECK_EQ(pthread_create(&aside, NULL, work_aside, NULL), 0);
	CHECK_EQ(pthread_create(&thunderer, NULL, thunder, NULL), 0);
	while (!stress_over())
		(void)nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	__atomic_store_n(&storm.ended, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thunderer, NULL), 0);
	CHECK_EQ(pthread_join(aside, NULL), 0);
	for (int i = 0; i < WORKERS; i++)
		CHECK_EQ(pthread_join(storm.worker[i], NULL), 0);
	print_totals();
	CHECK_EQ(storm.posted, storm.taken + ipcwait_sem_value(&storm.sem));
	CHECK_EQ(storm.side_posted, storm.side_taken + ipcwait_sem_value(&storm.side));
	CHECK_EQ(word_sleepers(sem_word(&storm.sem)), 0);
	CHECK_EQ(word_sleepers(sem_word(&storm.side)), 0);
}
