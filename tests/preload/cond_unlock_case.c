/* SPDX-License-Identifier: MIT */
/*
 * Signals by a thread that has the mutex of those who wait: a signalled thread comes back, whatever
 * the other does before it unlocks the mutex, and however it locks and unlocks it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "moments.h"
#include "say.h"

#define TIMES 40

static bool at_least(const int *value, int want)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + FAR_MS * INT64_C(1000000);

	while (get(value) < want && clock_ns(CLOCK_MONOTONIC) < until)
		pass_us(100);
	return get(value) >= want;
}

/* What a thread does between its signal and its unlock. */
enum then {
	UNLOCK,
	WAIT_FOR_ANOTHER, /* with the same mutex, until the first is back */
	WAIT_SHARED,      /* the same on a condition variable that processes share */
	LOCK_ANOTHER,     /* that is not free for a while */
	SIGNAL_AGAIN,
	DESTROY,
	THEN_ALL,
};

/* Of one round: objects that no round has used before, so that nothing is known about them. */
struct round {
	pthread_mutex_t mutex, other;
	pthread_cond_t first, second, shared;
	int waiting, back;
};

static void *wait_first(void *arg)
{
	struct round *r = arg;

	NEEDS(pthread_mutex_lock(&r->mutex) == 0);
	r->waiting = 1;
	while (!r->back)
		NEEDS(pthread_cond_wait(&r->first, &r->mutex) == 0);
	r->back++;
	NEEDS(pthread_cond_signal(&r->second) == 0);
	NEEDS(pthread_cond_signal(&r->shared) == 0);
	NEEDS(pthread_mutex_unlock(&r->mutex) == 0);
	return NULL;
}

static void *keep_other(void *arg)
{
	struct round *r = arg;

	NEEDS(pthread_mutex_lock(&r->other) == 0);
	add(&r->waiting, 1);
	pass_ms(2);
	NEEDS(pthread_mutex_unlock(&r->other) == 0);
	return NULL;
}

static void wait_for_back(struct round *r, pthread_cond_t *c)
{
	while (r->back < 2)
		NEEDS(pthread_cond_wait(c, &r->mutex) == 0);
}

static void signal_and(struct round *r, enum then then)
{
	pthread_t keeper = 0;

	if (then == LOCK_ANOTHER) {
		keeper = begin_thread(keep_other, r);
		NEEDS(at_least(&r->waiting, 2));
	}
	r->back = 1;
	NEEDS(pthread_cond_signal(&r->first) == 0);
	if (then == WAIT_FOR_ANOTHER)
		wait_for_back(r, &r->second);
	else if (then == WAIT_SHARED)
		wait_for_back(r, &r->shared);
	else if (then == SIGNAL_AGAIN)
		NEEDS(pthread_cond_broadcast(&r->first) == 0);
	else if (then == DESTROY)
		NEEDS(pthread_cond_destroy(&r->first) == 0);
	if (then != LOCK_ANOTHER)
		return;
	NEEDS(pthread_mutex_lock(&r->other) == 0);
	NEEDS(pthread_mutex_unlock(&r->other) == 0);
	(void)end_thread(keeper);
}

/* Of a kind of mutex; the thread has unlocked it before, or not. */
static void play(struct round *r, int type, enum then then, int n)
{
	pthread_condattr_t shared;
	pthread_t t;

	NEEDS(pthread_condattr_init(&shared) == 0);
	NEEDS(pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) == 0);
	make_mutex_of(&r->mutex, type, 0, 0, 0);
	make_mutex_of(&r->other, PTHREAD_MUTEX_NORMAL, 0, 0, 0);
	NEEDS(pthread_cond_init(&r->first, NULL) == 0);
	NEEDS(pthread_cond_init(&r->second, NULL) == 0);
	NEEDS(pthread_cond_init(&r->shared, &shared) == 0);
	t = begin_thread(wait_first, r);
	NEEDS(at_least(&r->waiting, 1));
	if (n % 4)
		pass_us(300);
	if (n % 5) {
		NEEDS(pthread_mutex_lock(&r->mutex) == 0);
		NEEDS(pthread_mutex_unlock(&r->mutex) == 0);
	}
	if (n % 2 || pthread_mutex_trylock(&r->mutex) != 0)
		NEEDS(pthread_mutex_lock(&r->mutex) == 0);
	signal_and(r, then);
	NEEDS(pthread_mutex_unlock(&r->mutex) == 0);
	(void)end_thread(t);
	NEEDS(r->back == 2);
}

static void something_else_before_the_unlock(int type)
{
	struct round *rounds = calloc((size_t)TIMES * THEN_ALL, sizeof(*rounds));
	int i, k, n = 0;

	NEEDS(rounds);
	for (i = 0; i < TIMES; i++)
		for (k = 0; k < (int)THEN_ALL; k++, n++)
			play(&rounds[n], type, (enum then)k, i);
	say_number("signalled, and something else before the unlock", n);
	free(rounds);
}

/* A waiter of one round, and what ends its wait. */
struct one {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int waiting, go, back;
};

static void *wait_for_go(void *arg)
{
	struct one *o = arg;

	NEEDS(pthread_mutex_lock(&o->mutex) == 0);
	add(&o->waiting, 1);
	while (!o->go)
		NEEDS(pthread_cond_wait(&o->cond, &o->mutex) == 0);
	NEEDS(pthread_mutex_unlock(&o->mutex) == 0);
	return NULL;
}

static void *set_go(void *arg)
{
	struct one *o = arg;

	NEEDS(pthread_mutex_lock(&o->mutex) == 0);
	o->go = 1;
	NEEDS(pthread_mutex_unlock(&o->mutex) == 0);
	return NULL;
}

static void *unlock_it(void *arg)
{
	struct one *o = arg;

	NEEDS(pthread_mutex_unlock(&o->mutex) == 0);
	return NULL;
}

/* Another thread sets what is waited for: this one signals without the mutex, and joins. */
static void signal_without_it(struct one *o)
{
	pthread_t t = begin_thread(wait_for_go, o);

	NEEDS(at_least(&o->waiting, 1));
	pass_us(500);
	(void)end_thread(begin_thread(set_go, o));
	NEEDS(pthread_cond_signal(&o->cond) == 0);
	(void)end_thread(t);
}

/* The mutex was one of C11 before, with which this thread has waited. */
static void after_c11(void)
{
	static struct one o;
	struct timespec at;
	mtx_t *m = (mtx_t *)&o.mutex;
	cnd_t c;
	int i;

	for (i = 0; i < 4; i++) {
		memset(&o, 0, sizeof(o));
		NEEDS(mtx_init(m, mtx_timed) == thrd_success);
		NEEDS(cnd_init(&c) == thrd_success);
		NEEDS(mtx_lock(m) == thrd_success);
		NEEDS(timespec_get(&at, TIME_UTC) == TIME_UTC);
		NEEDS(cnd_timedwait(&c, m, &at) == thrd_timedout);
		NEEDS(mtx_unlock(m) == thrd_success);
		mtx_destroy(m);
		cnd_destroy(&c);
		NEEDS(pthread_mutex_init(&o.mutex, NULL) == 0);
		signal_without_it(&o);
	}
	say_number("signalled with a mutex that was one of C11", i);
}

static void *die_with_it(void *arg)
{
	NEEDS(pthread_mutex_lock(arg) == 0);
	return NULL;
}

/* It was a robust one before, which this thread could not lock. */
static void after_a_failed_lock(void)
{
	static struct one o;
	int i;

	for (i = 0; i < 4; i++) {
		memset(&o, 0, sizeof(o));
		make_mutex_of(&o.mutex, PTHREAD_MUTEX_NORMAL, 0, PTHREAD_MUTEX_ROBUST, 0);
		(void)end_thread(begin_thread(die_with_it, &o.mutex));
		NEEDS(pthread_mutex_lock(&o.mutex) == EOWNERDEAD);
		NEEDS(pthread_mutex_unlock(&o.mutex) == 0);
		NEEDS(pthread_mutex_lock(&o.mutex) == ENOTRECOVERABLE);
		NEEDS(pthread_mutex_destroy(&o.mutex) == 0);
		NEEDS(pthread_mutex_init(&o.mutex, NULL) == 0);
		signal_without_it(&o);
	}
	say_number("signalled with a mutex that could not be locked", i);
}

/* glibc lets another thread unlock a normal mutex, and some programs hand one over like that. */
static void unlocked_by_another(void)
{
	static struct one o;
	int i;

	for (i = 0; i < 4; i++) {
		pthread_t t;

		memset(&o, 0, sizeof(o));
		t = begin_thread(wait_for_go, &o);
		NEEDS(at_least(&o.waiting, 1));
		pass_us(500);
		NEEDS(pthread_mutex_lock(&o.mutex) == 0);
		o.go = 1;
		NEEDS(pthread_cond_signal(&o.cond) == 0);
		(void)end_thread(begin_thread(unlock_it, &o));
		(void)end_thread(t);
	}
	say_number("signalled with a mutex that another thread unlocks", i);
}

int main(void)
{
	say_begin();
	something_else_before_the_unlock(PTHREAD_MUTEX_NORMAL);
	something_else_before_the_unlock(PTHREAD_MUTEX_RECURSIVE);
	something_else_before_the_unlock(PTHREAD_MUTEX_ERRORCHECK);
	after_c11();
	after_a_failed_lock();
	unlocked_by_another();
	return say_end();
}
