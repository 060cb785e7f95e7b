/* SPDX-License-Identifier: MIT */
/*
 * Threads move tokens between stations, with random deadlines; signals and cancellations come in
 * between. Whatever the waits answer, all tokens are there at the end: storm_case [SECONDS]
 */
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "say.h"

#define STATIONS 12
#define TOKENS   24
#define THREADS  64

/*
 * A condition variable, private or shared, with a count; a semaphore; a count under a reader-writer
 * lock.
 */
enum kind { COND, SHARED, SEM, RWLOCK };

static struct station {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_rwlock_t rwlock;
	sem_t sem;
	long tokens;
} stations[STATIONS];

static int stop;
static long moved[THREADS];

static enum kind kind_of(int s)
{
	return (enum kind)(s % 4);
}

static void put(int at)
{
	struct station *s = &stations[at];

	switch (kind_of(at)) {
	case COND:
	case SHARED:
		NEEDS(pthread_mutex_lock(&s->mutex) == 0);
		s->tokens++;
		if (at < STATIONS / 2)
			NEEDS(pthread_cond_signal(&s->cond) == 0);
		NEEDS(pthread_mutex_unlock(&s->mutex) == 0);
		if (at >= STATIONS / 2)
			NEEDS(pthread_cond_signal(&s->cond) == 0);
		break;
	case SEM:
		NEEDS(sem_post(&s->sem) == 0);
		break;
	default:
		NEEDS(pthread_rwlock_wrlock(&s->rwlock) == 0);
		s->tokens++;
		NEEDS(pthread_rwlock_unlock(&s->rwlock) == 0);
	}
}

static void unlock(void *arg)
{
	NEEDS(pthread_mutex_unlock(arg) == 0);
}

static bool take_with_cond(struct station *s, const struct timespec *at)
{
	bool got;

	NEEDS(pthread_mutex_lock(&s->mutex) == 0);
	pthread_cleanup_push(unlock, &s->mutex);
	while (!s->tokens &&
	       pthread_cond_clockwait(&s->cond, &s->mutex, CLOCK_MONOTONIC, at) == 0)
		;
	got = s->tokens > 0;
	s->tokens -= got;
	pthread_cleanup_pop(1);
	return got;
}

static bool take(int from, const struct timespec *at)
{
	struct station *s = &stations[from];
	bool got;

	switch (kind_of(from)) {
	case COND:
	case SHARED:
		return take_with_cond(s, at);
	case SEM:
		return sem_clockwait(&s->sem, CLOCK_MONOTONIC, at) == 0;
	default:
		if (pthread_rwlock_clockwrlock(&s->rwlock, CLOCK_MONOTONIC, at) != 0)
			return false;
		got = s->tokens > 0;
		s->tokens -= got;
		NEEDS(pthread_rwlock_unlock(&s->rwlock) == 0);
		return got;
	}
}

static struct timespec soon(unsigned *seed)
{
	struct timespec at = in_ms(CLOCK_MONOTONIC, 0);

	at.tv_nsec += 1000L << rand_r(seed) % 12;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

static void *move(void *arg)
{
	int me = (int)(intptr_t)arg;
	unsigned seed = (unsigned)me + 1;

	while (!get(&stop)) {
		struct timespec at = soon(&seed);
		int old, from = rand_r(&seed) % STATIONS;
		bool got = take(from, &at);

		/* Nobody is cancelled with a token in hand: only while waiting. */
		NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
		if (got) {
			put(rand_r(&seed) % STATIONS);
			__atomic_fetch_add(&moved[me], 1, __ATOMIC_RELAXED);
		}
		NEEDS(pthread_setcancelstate(old, NULL) == 0);
	}
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
}

static void make(void)
{
	pthread_condattr_t attr;
	int i;

	NEEDS(pthread_condattr_init(&attr) == 0);
	for (i = 0; i < STATIONS; i++) {
		struct station *s = &stations[i];

		NEEDS(pthread_condattr_setpshared(&attr, kind_of(i) == SHARED) == 0);
		NEEDS(pthread_mutex_init(&s->mutex, NULL) == 0);
		NEEDS(pthread_cond_init(&s->cond, &attr) == 0);
		NEEDS(pthread_rwlock_init(&s->rwlock, NULL) == 0);
		NEEDS(sem_init(&s->sem, 0, 0) == 0);
	}
	for (i = 0; i < TOKENS; i++)
		put(i % STATIONS);
}

/* However slow the machine is, so much comes about before the end. */
#define CANCELLED_LEAST 10
#define MOVED_LEAST     100

static long all_moved(void)
{
	long sum = 0;
	int i;

	for (i = 0; i < THREADS; i++)
		sum += __atomic_load_n(&moved[i], __ATOMIC_RELAXED);
	return sum;
}

/* Signals and cancellations until the time is over; who is cancelled is replaced. */
static long disturb(pthread_t *t, long seconds)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + seconds * INT64_C(1000000000);
	unsigned seed = 99;
	long cancelled = 0;

	while (clock_ns(CLOCK_MONOTONIC) < until || cancelled < CANCELLED_LEAST ||
	       all_moved() < MOVED_LEAST) {
		int victim = rand_r(&seed) % THREADS;

		pass_us(200);
		if (rand_r(&seed) % 8) {
			NEEDS(pthread_kill(t[victim], SIGUSR1) == 0);
			continue;
		}
		NEEDS(pthread_cancel(t[victim]) == 0);
		NEEDS(end_thread(t[victim]) == PTHREAD_CANCELED);
		t[victim] = begin_thread(move, (void *)(intptr_t)victim);
		cancelled++;
	}
	return cancelled;
}

static long tokens(void)
{
	long sum = 0;
	int i, value;

	for (i = 0; i < STATIONS; i++) {
		NEEDS(sem_getvalue(&stations[i].sem, &value) == 0);
		sum += stations[i].tokens + value;
	}
	return sum;
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? atol(argv[1]) : 2, cancelled;
	pthread_t t[THREADS];
	int i;

	say_begin();
	(void)alarm(200 + (unsigned)seconds);
	handle(SIGUSR1, on_signal, 0);
	make();
	for (i = 0; i < THREADS; i++)
		t[i] = begin_thread(move, (void *)(intptr_t)i);
	cancelled = disturb(t, seconds);
	set(&stop, 1);
	for (i = 0; i < THREADS; i++)
		(void)end_thread(t[i]);
	expect_number("tokens", tokens(), TOKENS);
	expect_least("moved", all_moved(), MOVED_LEAST);
	expect_least("cancelled", cancelled, CANCELLED_LEAST);
	for (i = 0; i < STATIONS; i++)
		NEEDS(pthread_cond_destroy(&stations[i].cond) == 0);
	return say_end();
}
