/* SPDX-License-Identifier: MIT */
/*
 * Waits that are left in another way than by their return, and what becomes of the mutex: by
 * siglongjmp(), and by cancellation where nothing sleeps. And objects that are destroyed while
 * somebody uses them, or twice.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "say.h"

struct kind {
	const char *name;
	int type;
	int shared;
	int robust;
	int protocol;
};

static const struct kind kinds[] = {
	{ "normal", PTHREAD_MUTEX_NORMAL, 0, 0, 0 },
	{ "adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0 },
	{ "recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0, 0 },
	{ "errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0 },
	{ "shared", PTHREAD_MUTEX_NORMAL, 1, 0, 0 },
	{ "inheriting", PTHREAD_MUTEX_NORMAL, 0, 0, PTHREAD_PRIO_INHERIT },
	{ "robust", PTHREAD_MUTEX_NORMAL, 0, 1, 0 },
	{ "robust recursive", PTHREAD_MUTEX_RECURSIVE, 0, 1, 0 },
};

#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

/* Remade for each scene. */
static pthread_mutex_t mutex;
static pthread_cond_t cond;
static int waiting, go, handled;

static void make(const struct kind *k)
{
	pthread_mutexattr_t attr;

	NEEDS(pthread_mutexattr_init(&attr) == 0);
	NEEDS(pthread_mutexattr_settype(&attr, k->type) == 0);
	NEEDS(pthread_mutexattr_setpshared(&attr, k->shared) == 0);
	NEEDS(pthread_mutexattr_setrobust(&attr, k->robust) == 0);
	NEEDS(pthread_mutexattr_setprotocol(&attr, k->protocol) == 0);
	NEEDS(pthread_mutex_init(&mutex, &attr) == 0);
	NEEDS(pthread_cond_init(&cond, NULL) == 0);
	waiting = go = handled = 0;
}

static void expect_of(const struct kind *k, const char *what, int error, int want)
{
	char line[96];

	(void)snprintf(line, sizeof(line), "%s, %s", k->name, what);
	expect(line, error, want);
}

static void *wait_for_go(void *arg)
{
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	waiting = 1;
	while (!go)
		NEEDS(pthread_cond_wait(&cond, &mutex) == 0);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return arg;
}

static bool somebody_waits(void *arg)
{
	bool is;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	is = waiting;
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return is || arg;
}

/* A waiter is a user of its mutex, of which robust ones have no count. */
static void destroyed_under_waiter(const struct kind *k)
{
	pthread_t t;

	make(k);
	t = begin_thread(wait_for_go, NULL);
	NEEDS(eventually(somebody_waits, NULL));
	expect_of(k, "destroy under a waiter", pthread_mutex_destroy(&mutex), EBUSY);
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	go = 1;
	NEEDS(pthread_cond_signal(&cond) == 0 && pthread_mutex_unlock(&mutex) == 0);
	(void)end_thread(t);
	expect_of(k, "destroy after it", pthread_mutex_destroy(&mutex), 0);
	expect_of(k, "destroy of the condition", pthread_cond_destroy(&cond), 0);
}

static __thread sigjmp_buf out;

static void jump_out(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

/* What is on the stack where the wait was. */
static __attribute__((noinline)) void overwrite_stack(void)
{
	char bytes[4096];

	memset(bytes, 0x41, sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static void count_handled(void *arg)
{
	(void)arg;
	add(&handled, 1);
}

struct jump {
	const struct kind *kind;
	bool timed, cancelled;
};

static void wait_once(const struct jump *j)
{
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	waiting = 1;
	if (j->timed)
		NEEDS(pthread_cond_timedwait(&cond, &mutex, &at) == 0);
	else
		NEEDS(pthread_cond_wait(&cond, &mutex) == 0);
	say_stuck(__FILE__, __LINE__, "no signal came");
}

/* The jump leaves the mutex locked, and the wait must have no part in how the thread ends. */
static void *jump_and_end(void *arg)
{
	const struct jump *j = arg;
	bool again = j->kind->type == PTHREAD_MUTEX_RECURSIVE;

	if (sigsetjmp(out, 1) == 0)
		wait_once(j);
	expect_of(j->kind, "trylock after a jump", pthread_mutex_trylock(&mutex),
		  again ? 0 : EBUSY);
	if (again)
		NEEDS(pthread_mutex_unlock(&mutex) == 0);
	expect_of(j->kind, "unlock after a jump", pthread_mutex_unlock(&mutex), 0);
	overwrite_stack();
	pthread_cleanup_push(count_handled, NULL);
	if (!j->cancelled)
		pthread_exit(NULL);
	NEEDS(pthread_cancel(pthread_self()) == 0);
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return arg;
}

static void jumps(const struct kind *k, bool timed, bool cancelled)
{
	struct jump j = { k, timed, cancelled };
	pthread_t t;

	make(k);
	handle(SIGUSR1, jump_out, 0);
	t = begin_thread(jump_and_end, &j);
	NEEDS(eventually(somebody_waits, NULL));
	settle(t, NULL);
	NEEDS(pthread_kill(t, SIGUSR1) == 0);
	expect_true("how it ended", end_thread(t) == (cancelled ? PTHREAD_CANCELED : NULL));
	expect_number("handlers of the thread", handled, 1);
	expect_of(k, "lock by another", pthread_mutex_lock(&mutex), 0);
	expect_of(k, "unlock by another", pthread_mutex_unlock(&mutex), 0);
	expect_of(k, "signal", pthread_cond_signal(&cond), 0);
	expect_of(k, "destroy of the condition", pthread_cond_destroy(&cond), 0);
	expect_of(k, "destroy", pthread_mutex_destroy(&mutex), 0);
}

static void unlock(void *arg)
{
	(void)arg;
	handled++;
	expect("unlock in the handler", pthread_mutex_unlock(&mutex), 0);
}

/* Deadlines that are over: nothing sleeps, and each call is a cancellation point all the same. */
static void *wait_for_nothing(void *arg)
{
	struct timespec at = { 0, 0 };

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	pthread_cleanup_push(unlock, NULL);
	for (;;) {
		NEEDS(pthread_cond_timedwait(&cond, &mutex, &at) == ETIMEDOUT);
		set(&waiting, 1);
	}
	pthread_cleanup_pop(0);
	return arg;
}

static void cancelled_awake(const struct kind *k)
{
	pthread_t t;

	make(k);
	t = begin_thread(wait_for_nothing, NULL);
	NEEDS(becomes(&waiting, 1));
	NEEDS(pthread_cancel(t) == 0);
	expect_true("cancelled", end_thread(t) == PTHREAD_CANCELED);
	expect_number("handlers", handled, 1);
	expect_of(k, "destroy of the condition", pthread_cond_destroy(&cond), 0);
	expect_of(k, "destroy", pthread_mutex_destroy(&mutex), 0);
}

/* No program may, and libc answers. */
static void destroyed_twice(void)
{
	pthread_barrier_t barrier;

	expect("init of a barrier", pthread_barrier_init(&barrier, NULL, 1), 0);
	expect_true("the last to come",
		    pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
	expect("destroy", pthread_barrier_destroy(&barrier), 0);
	say("destroy again", pthread_barrier_destroy(&barrier));
	expect("init for 32767", pthread_barrier_init(&barrier, NULL, 32767), 0);
	expect("destroy", pthread_barrier_destroy(&barrier), 0);
	expect("init for 40000", pthread_barrier_init(&barrier, NULL, 40000), 0);
	expect("destroy", pthread_barrier_destroy(&barrier), 0);
}

int main(void)
{
	int i;

	say_begin();
	for (i = 0; i < KINDS; i++) {
		dprintf(1, "== %s\n", kinds[i].name);
		if (!kinds[i].robust)
			destroyed_under_waiter(&kinds[i]);
		jumps(&kinds[i], false, false);
		jumps(&kinds[i], false, true);
		jumps(&kinds[i], true, false);
		jumps(&kinds[i], true, true);
		cancelled_awake(&kinds[i]);
	}
	destroyed_twice();
	return say_end();
}
