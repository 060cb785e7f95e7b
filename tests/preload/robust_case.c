/* SPDX-License-Identifier: MIT */
/* Robust mutexes: owners that end, whoever waits then, and what comes after. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "moments.h"
#include "say.h"

static void make(pthread_mutex_t *m, int type, int shared, int protocol)
{
	pthread_mutexattr_t attr;

	NEEDS(pthread_mutexattr_init(&attr) == 0);
	NEEDS(pthread_mutexattr_settype(&attr, type) == 0);
	NEEDS(pthread_mutexattr_setpshared(&attr, shared) == 0);
	NEEDS(pthread_mutexattr_setprotocol(&attr, protocol) == 0);
	NEEDS(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
	NEEDS(pthread_mutex_init(m, &attr) == 0);
}

static void *own_and_end(void *arg)
{
	return (void *)(intptr_t)pthread_mutex_lock(arg);
}

static void leave_by_thread(pthread_mutex_t *m)
{
	expect("lock by a thread that ends",
	       (int)(intptr_t)end_thread(begin_thread(own_and_end, m)), 0);
}

static int call(pthread_mutex_t *m, int how)
{
	struct timespec at = in_ms(how == 3 ? CLOCK_MONOTONIC : CLOCK_REALTIME, FAR_MS);

	switch (how) {
	case 0:
		return pthread_mutex_lock(m);
	case 1:
		return pthread_mutex_trylock(m);
	case 2:
		return pthread_mutex_timedlock(m, &at);
	default:
		return pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &at);
	}
}

static const char *const call_names[] = { "lock", "trylock", "timedlock", "clocklock" };

/* Found by each call, mended by it, and lost for good when not mended. */
static void found(int type, int protocol)
{
	int calls =
		protocol ? 3
			 : 4; /* clocklock and inheritance do not go together everywhere */
	pthread_mutex_t m;
	int i;

	for (i = 0; i < calls; i++) {
		make(&m, type, 0, protocol);
		leave_by_thread(&m);
		expect(call_names[i], call(&m, i), EOWNERDEAD);
		expect("consistent", pthread_mutex_consistent(&m), 0);
		expect("consistent again", pthread_mutex_consistent(&m), EINVAL);
		expect("unlock", pthread_mutex_unlock(&m), 0);
		expect("then lock", pthread_mutex_lock(&m), 0);
		expect("then unlock", pthread_mutex_unlock(&m), 0);
		leave_by_thread(&m);
		expect(call_names[i], call(&m, i), EOWNERDEAD);
		expect("unlock without consistent", pthread_mutex_unlock(&m), 0);
		expect("then lock", pthread_mutex_lock(&m), ENOTRECOVERABLE);
		expect("then timedlock", pthread_mutex_timedlock(&m, &moments[0].at),
		       ENOTRECOVERABLE);
		expect("then trylock", pthread_mutex_trylock(&m), ENOTRECOVERABLE);
		expect("destroy", pthread_mutex_destroy(&m), 0);
	}
}

static void not_dead(void)
{
	pthread_mutex_t m;

	make(&m, PTHREAD_MUTEX_NORMAL, 0, 0);
	expect("consistent when free", pthread_mutex_consistent(&m), EINVAL);
	expect("lock", pthread_mutex_lock(&m), 0);
	expect("consistent when in order", pthread_mutex_consistent(&m), EINVAL);
	expect("unlock", pthread_mutex_unlock(&m), 0);
	expect("destroy", pthread_mutex_destroy(&m), 0);
}

/* The owner ends while others wait, with and without a deadline. */
struct estate {
	pthread_mutex_t mutex;
	int owned, waiting, heirs, inherited, ended;
};

static void *own_until_all_wait(void *arg)
{
	struct estate *e = arg;

	NEEDS(pthread_mutex_lock(&e->mutex) == 0);
	set(&e->owned, 1);
	NEEDS(becomes(&e->waiting, 4));
	pass_ms(5);
	return NULL;
}

struct heir {
	struct estate *estate;
	int how;
};

static void *inherit(void *arg)
{
	struct heir *h = arg;
	struct estate *e = h->estate;
	int error;

	NEEDS(becomes(&e->owned, 1));
	add(&e->waiting, 1);
	while ((error = call(&e->mutex, h->how)) == EBUSY)
		pass_us(100);
	if (error == EOWNERDEAD) {
		add(&e->heirs, 1);
		NEEDS(pthread_mutex_consistent(&e->mutex) == 0);
	} else {
		NEEDS(error == 0);
	}
	e->inherited++;
	NEEDS(pthread_mutex_unlock(&e->mutex) == 0);
	return NULL;
}

static void while_others_wait(int protocol)
{
	struct estate e = { .waiting = 0 };
	pthread_t t[5];
	struct heir h[4];
	int i;

	make(&e.mutex, PTHREAD_MUTEX_NORMAL, 0, protocol);
	t[4] = begin_thread(own_until_all_wait, &e);
	for (i = 0; i < 4; i++) {
		h[i] = (struct heir){ &e, protocol && i == 3 ? 0 : i };
		t[i] = begin_thread(inherit, &h[i]);
	}
	for (i = 0; i < 5; i++)
		(void)end_thread(t[i]);
	expect_number("who waited and were told of the death", e.heirs, 1);
	expect_number("who waited and got it", e.inherited, 4);
	expect("destroy", pthread_mutex_destroy(&e.mutex), 0);
}

/* A process is killed: what it owned is found by another, waiting or later. */
static void own_for_good(void *arg)
{
	struct estate *e = arg;

	NEEDS(pthread_mutex_lock(&e->mutex) == 0);
	set(&e->owned, 1);
	for (;;)
		(void)pause();
}

static void *kill_soon(void *arg)
{
	pass_ms(5);
	NEEDS(kill(*(pid_t *)arg, SIGKILL) == 0);
	return NULL;
}

static void killed(int how, bool waiting)
{
	struct estate *e = shared_memory(sizeof(*e));
	char line[64];
	pid_t child;
	pthread_t t;

	make(&e->mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED, 0);
	child = begin_child(own_for_good, e);
	NEEDS(becomes(&e->owned, 1));
	(void)snprintf(line, sizeof(line), "%s %s the owner is killed", call_names[how],
		       waiting ? "while" : "after");
	expect("trylock of an owner that lives", pthread_mutex_trylock(&e->mutex), EBUSY);
	t = begin_thread(kill_soon, &child);
	if (!waiting) {
		(void)end_thread(t);
		expect_child("killed", child, SIGKILL);
	}
	expect(line, call(&e->mutex, how), EOWNERDEAD);
	if (waiting) {
		(void)end_thread(t);
		expect_child("killed", child, SIGKILL);
	}
	expect("consistent", pthread_mutex_consistent(&e->mutex), 0);
	expect("unlock", pthread_mutex_unlock(&e->mutex), 0);
	expect("destroy", pthread_mutex_destroy(&e->mutex), 0);
}

/* A child is not the owner of what its parent owned, and its end frees nothing. */
static void look_in_child(void *arg)
{
	pthread_mutex_t *m = arg;

	expect("trylock in the child", pthread_mutex_trylock(m), EBUSY);
	expect("unlock in the child", pthread_mutex_unlock(m), EPERM);
	expect("consistent in the child", pthread_mutex_consistent(m), EINVAL);
}

static void forked(void)
{
	pthread_mutex_t *m = shared_memory(sizeof(*m));

	make(m, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PROCESS_SHARED, 0);
	expect("lock", pthread_mutex_lock(m), 0);
	expect_child("the child", begin_child(look_in_child, m), 0);
	expect("lock again", pthread_mutex_lock(m), EDEADLK);
	expect("unlock", pthread_mutex_unlock(m), 0);
}

/* One that owns several, in both orders of unlocking what is left. */
static void *own_three(void *arg)
{
	pthread_mutex_t *m = arg;
	int i;

	for (i = 0; i < 3; i++)
		NEEDS(pthread_mutex_lock(&m[i]) == 0);
	NEEDS(pthread_mutex_unlock(&m[1]) == 0);
	return NULL;
}

static void several(void)
{
	pthread_mutex_t m[3];
	int i;

	for (i = 0; i < 3; i++)
		make(&m[i], PTHREAD_MUTEX_NORMAL, 0, 0);
	(void)end_thread(begin_thread(own_three, m));
	for (i = 0; i < 3; i++)
		expect("one of three", pthread_mutex_lock(&m[i]), i == 1 ? 0 : EOWNERDEAD);
	for (i = 0; i < 3; i++)
		expect("unlock", pthread_mutex_unlock(&m[i]), 0);
}

/* The mutex of a condition wait whose owner dies meanwhile. */
struct waited {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int waiting;
};

static void *signal_and_end(void *arg)
{
	struct waited *w = arg;

	NEEDS(pthread_mutex_lock(&w->mutex) == 0);
	NEEDS(pthread_cond_signal(&w->cond) == 0);
	return NULL;
}

static void in_a_condition_wait(void)
{
	struct waited w = { .cond = PTHREAD_COND_INITIALIZER };
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
	pthread_t t;

	make(&w.mutex, PTHREAD_MUTEX_NORMAL, 0, 0);
	expect("lock", pthread_mutex_lock(&w.mutex), 0);
	t = begin_thread(signal_and_end, &w);
	expect("condition wait, the signaller dies as the owner",
	       pthread_cond_timedwait(&w.cond, &w.mutex, &at), EOWNERDEAD);
	(void)end_thread(t);
	expect("consistent", pthread_mutex_consistent(&w.mutex), 0);
	expect("unlock", pthread_mutex_unlock(&w.mutex), 0);
	expect("destroy the condition", pthread_cond_destroy(&w.cond), 0);
}

int main(void)
{
	int i;

	say_begin();
	not_dead();
	found(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE);
	found(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE);
	found(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE);
	found(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT);
	while_others_wait(PTHREAD_PRIO_NONE);
	while_others_wait(PTHREAD_PRIO_INHERIT);
	for (i = 0; i < 4; i++) {
		killed(i, false);
		if (i != 1)
			killed(i, true);
	}
	forked();
	several();
	in_a_condition_wait();
	return say_end();
}
