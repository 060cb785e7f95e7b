/* SPDX-License-Identifier: MIT */
/* Condition variables: whom a signal releases, what comes after it, memory that is used again. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moments.h"
#include "say.h"

#define CROWD 8

/* Waiters that wait once, without a predicate, and count that they are back. */
struct crowd {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int waiting, back;
};

static void make(struct crowd *c, clockid_t clock, int shared)
{
	pthread_mutexattr_t m;
	pthread_condattr_t attr;

	memset(c, 0, sizeof(*c));
	NEEDS(pthread_mutexattr_init(&m) == 0 &&
	      pthread_mutexattr_setpshared(&m, shared) == 0);
	NEEDS(pthread_mutex_init(&c->mutex, &m) == 0);
	NEEDS(pthread_condattr_init(&attr) == 0 &&
	      pthread_condattr_setclock(&attr, clock) == 0);
	NEEDS(pthread_condattr_setpshared(&attr, shared) == 0);
	NEEDS(pthread_cond_init(&c->cond, &attr) == 0);
}

static void *wait_once(void *arg)
{
	struct crowd *c = arg;
	struct timespec at = in_ms(CLOCK_MONOTONIC, FAR_MS);
	int error;

	NEEDS(pthread_mutex_lock(&c->mutex) == 0);
	if (++c->waiting % 2)
		error = pthread_cond_wait(&c->cond, &c->mutex);
	else
		error = pthread_cond_clockwait(&c->cond, &c->mutex, CLOCK_MONOTONIC, &at);
	NEEDS(error == 0);
	add(&c->back, 1);
	NEEDS(pthread_mutex_unlock(&c->mutex) == 0);
	return NULL;
}

static void begin_crowd(struct crowd *c, pthread_t *t)
{
	bool all = false;
	int i;

	for (i = 0; i < CROWD; i++)
		t[i] = begin_thread(wait_once, c);
	while (!all) {
		pass_us(50);
		NEEDS(pthread_mutex_lock(&c->mutex) == 0);
		all = c->waiting == CROWD;
		NEEDS(pthread_mutex_unlock(&c->mutex) == 0);
	}
}

static bool at_least(const int *value, int want)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + FAR_MS * INT64_C(1000000);

	while (get(value) < want && clock_ns(CLOCK_MONOTONIC) < until)
		pass_us(100);
	return get(value) >= want;
}

/*
 * @signals of a crowd, with the mutex or without it. Each releases one, and no more but where a
 * wait ends for no reason, which is allowed and rare. Returns whether exactly so many came back.
 */
static bool release(struct crowd *c, int signals, bool locked)
{
	pthread_t t[CROWD];
	bool exact;
	int i;

	begin_crowd(c, t);
	if (locked)
		NEEDS(pthread_mutex_lock(&c->mutex) == 0);
	for (i = 0; i < signals; i++)
		NEEDS(pthread_cond_signal(&c->cond) == 0);
	if (locked)
		NEEDS(pthread_mutex_unlock(&c->mutex) == 0);
	NEEDS(at_least(&c->back, signals));
	pass_ms(3);
	exact = get(&c->back) == signals;
	NEEDS(pthread_cond_broadcast(&c->cond) == 0);
	for (i = 0; i < CROWD; i++)
		(void)end_thread(t[i]);
	NEEDS(c->back == CROWD);
	c->waiting = c->back = 0;
	return exact;
}

static void each_signal_one(const char *name, clockid_t clock, int shared)
{
	struct crowd c;
	int k, exact = 0;

	make(&c, clock, shared);
	for (k = 0; k <= CROWD; k++)
		exact += release(&c, k, k % 2);
	expect_least(name, exact, CROWD - 1);
	expect("destroy", pthread_cond_destroy(&c.cond), 0);
}

/* Who comes after the signal does not take it: it is for those who waited. */
static void latecomer(int shared)
{
	struct crowd c;
	pthread_t t[CROWD];
	int i, stolen = 0;

	make(&c, CLOCK_MONOTONIC, shared);
	begin_crowd(&c, t);
	for (i = 0; i < CROWD; i++) {
		struct timespec at = in_ms(CLOCK_MONOTONIC, 5);

		NEEDS(pthread_mutex_lock(&c.mutex) == 0);
		NEEDS(pthread_cond_signal(&c.cond) == 0);
		stolen += pthread_cond_timedwait(&c.cond, &c.mutex, &at) == 0;
		NEEDS(pthread_mutex_unlock(&c.mutex) == 0);
		NEEDS(at_least(&c.back, i + 1));
	}
	for (i = 0; i < CROWD; i++)
		(void)end_thread(t[i]);
	expect_number("waiters back, a signal each", c.back, CROWD);
	expect_true("latecomers told but for no reason", stolen <= 1);
	expect("destroy", pthread_cond_destroy(&c.cond), 0);
}

/* The memory is somebody else's as soon as the condition variable is destroyed. */
static void destroyed_after_broadcast(void)
{
	static struct crowd c;
	pthread_cond_t *cond;
	int i, k;

	for (k = 0; k < 60; k++) {
		pthread_t t[CROWD];

		make(&c, k % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, 0);
		begin_crowd(&c, t);
		cond = &c.cond;
		NEEDS(pthread_mutex_lock(&c.mutex) == 0);
		NEEDS(pthread_cond_broadcast(cond) == 0);
		NEEDS(pthread_mutex_unlock(&c.mutex) == 0);
		NEEDS(pthread_cond_destroy(cond) == 0);
		memset(cond, 0xa5, sizeof(*cond));
		for (i = 0; i < CROWD; i++)
			(void)end_thread(t[i]);
		NEEDS(c.back == CROWD);
	}
	say_number("destroyed right after a broadcast", k);
}

/* Each of a ring waits for the one before; broadcasts with and without the mutex. */
#define RING   4
#define ROUNDS 300

static struct crowd ring;
static int turn;

static void *go_round(void *arg)
{
	int n = *(int *)arg, k;

	NEEDS(pthread_mutex_lock(&ring.mutex) == 0);
	for (k = 0; k < ROUNDS; k++) {
		struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);

		while (turn % RING != n)
			NEEDS(pthread_cond_timedwait(&ring.cond, &ring.mutex, &at) == 0);
		turn++;
		if (k % 2) {
			NEEDS(pthread_cond_broadcast(&ring.cond) == 0);
		} else {
			NEEDS(pthread_mutex_unlock(&ring.mutex) == 0);
			NEEDS(pthread_cond_broadcast(&ring.cond) == 0);
			NEEDS(pthread_mutex_lock(&ring.mutex) == 0);
		}
	}
	NEEDS(pthread_mutex_unlock(&ring.mutex) == 0);
	return NULL;
}

static void rounds(int shared)
{
	pthread_t t[RING];
	int i, n[RING];

	make(&ring, CLOCK_REALTIME, shared);
	turn = 0;
	for (i = 0; i < RING; i++) {
		n[i] = i;
		t[i] = begin_thread(go_round, &n[i]);
	}
	for (i = 0; i < RING; i++)
		(void)end_thread(t[i]);
	expect_number("turns", turn, RING * ROUNDS);
	expect("destroy", pthread_cond_destroy(&ring.cond), 0);
}

/* Deadlines that come with the signals: whatever a wait answers, nothing handed over is lost. */
static struct crowd store;
static long stock, made, taken;
static int makers_done;

static void *take_in_time(void *arg)
{
	unsigned seed = *(int *)arg;

	NEEDS(pthread_mutex_lock(&store.mutex) == 0);
	while (stock || !makers_done) {
		struct timespec at = in_ms(CLOCK_MONOTONIC, 0);

		at.tv_nsec += rand_r(&seed) % 200 * 1000L;
		if (at.tv_nsec >= 1000000000)
			at.tv_nsec -= 1000000000, at.tv_sec++;
		if (!stock) {
			int error = pthread_cond_timedwait(&store.cond, &store.mutex, &at);

			NEEDS(error == 0 || error == ETIMEDOUT);
			continue;
		}
		stock--;
		taken++;
	}
	NEEDS(pthread_mutex_unlock(&store.mutex) == 0);
	return NULL;
}

static void *make_some(void *arg)
{
	int k;

	for (k = 0; k < 500; k++) {
		NEEDS(pthread_mutex_lock(&store.mutex) == 0);
		stock++;
		made++;
		NEEDS(pthread_mutex_unlock(&store.mutex) == 0);
		NEEDS(pthread_cond_signal(&store.cond) == 0);
		if (k % 8 == 0)
			pass_us(50);
	}
	return arg;
}

static void in_time(int shared)
{
	pthread_t t[CROWD];
	int i, n[CROWD];

	make(&store, CLOCK_MONOTONIC, shared);
	stock = made = taken = makers_done = 0;
	for (i = 0; i < CROWD; i++) {
		n[i] = i;
		t[i] = begin_thread(i < 2 ? make_some : take_in_time, &n[i]);
	}
	(void)end_thread(t[0]);
	(void)end_thread(t[1]);
	NEEDS(pthread_mutex_lock(&store.mutex) == 0);
	makers_done = 1;
	NEEDS(pthread_cond_broadcast(&store.cond) == 0);
	NEEDS(pthread_mutex_unlock(&store.mutex) == 0);
	for (i = 2; i < CROWD; i++)
		(void)end_thread(t[i]);
	expect_number("made", made, 1000);
	expect_number("taken", taken, 1000);
	expect("destroy", pthread_cond_destroy(&store.cond), 0);
}

/* Many at a time, on the heap: made, used, some forgotten without destroy, freed and made again. */
#define MANY 10000

struct request {
	pthread_cond_t cond;
	int answered;
};

static pthread_mutex_t requests_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t requests_changed = PTHREAD_COND_INITIALIZER;
static struct request *asked;
static long answers;

static void *answer(void *arg)
{
	int k;

	NEEDS(pthread_mutex_lock(&requests_mutex) == 0);
	for (k = 0; k < MANY; k++) {
		while (!asked)
			NEEDS(pthread_cond_wait(&requests_changed, &requests_mutex) == 0);
		asked->answered = 1;
		NEEDS(pthread_cond_signal(&asked->cond) == 0);
		asked = NULL;
		answers++;
	}
	NEEDS(pthread_mutex_unlock(&requests_mutex) == 0);
	return arg;
}

static void ask(struct request *r)
{
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);

	NEEDS(pthread_mutex_lock(&requests_mutex) == 0);
	asked = r;
	NEEDS(pthread_cond_signal(&requests_changed) == 0);
	while (!r->answered)
		NEEDS(pthread_cond_timedwait(&r->cond, &requests_mutex, &at) == 0);
	NEEDS(pthread_mutex_unlock(&requests_mutex) == 0);
}

static void many(void)
{
	static struct request *held[MANY];
	pthread_t t = begin_thread(answer, NULL);
	int i;

	for (i = 0; i < MANY; i++) {
		struct request *r = malloc(sizeof(*r));

		NEEDS(r);
		r->answered = 0;
		NEEDS(pthread_cond_init(&r->cond, NULL) == 0);
		ask(r);
		if (i % 3 == 0) {
			held[i] = r;
			continue;
		}
		if (i % 3 == 1)
			NEEDS(pthread_cond_destroy(&r->cond) == 0);
		memset(r, 0xff, sizeof(*r));
		free(r);
	}
	(void)end_thread(t);
	expect_number("requests answered", answers, MANY);
	for (i = 0; i < MANY; i++) {
		if (held[i])
			NEEDS(pthread_cond_destroy(&held[i]->cond) == 0);
		free(held[i]);
	}
}

int main(void)
{
	say_begin();
	each_signal_one("each signal releases one", CLOCK_REALTIME, 0);
	each_signal_one("each signal releases one, monotonic", CLOCK_MONOTONIC, 0);
	each_signal_one("each signal releases one, shared", CLOCK_REALTIME, 1);
	latecomer(0);
	latecomer(1);
	destroyed_after_broadcast();
	rounds(0);
	rounds(1);
	in_time(0);
	in_time(1);
	many();
	return say_end();
}
