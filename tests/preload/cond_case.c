/* SPDX-License-Identifier: MIT */
/* Condition variables: arguments, deadlines, clocks, kinds of mutexes, signals that end nothing. */
#include <signal.h>
#include <stdio.h>

#include "moments.h"
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
	{ "shared errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1, 0, 0 },
	{ "robust", PTHREAD_MUTEX_ERRORCHECK, 0, 1, 0 },
	{ "inheriting", PTHREAD_MUTEX_ERRORCHECK, 0, 0, PTHREAD_PRIO_INHERIT },
	{ "inheriting robust", PTHREAD_MUTEX_RECURSIVE, 0, 1, PTHREAD_PRIO_INHERIT },
};

#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

/* Both are remade for each scene. */
static pthread_mutex_t mutex;
static pthread_cond_t cond;

static void make_mutex(const struct kind *k)
{
	make_mutex_of(&mutex, k->type, k->shared, k->robust, k->protocol);
}

static void make_cond(clockid_t clock, int shared)
{
	pthread_condattr_t attr;

	NEEDS(pthread_condattr_init(&attr) == 0);
	NEEDS(pthread_condattr_setclock(&attr, clock) == 0);
	NEEDS(pthread_condattr_setpshared(&attr, shared) == 0);
	NEEDS(pthread_cond_init(&cond, &attr) == 0);
	NEEDS(pthread_condattr_destroy(&attr) == 0);
}

static void attributes(void)
{
	pthread_condattr_t attr;
	clockid_t clock = -5;
	int shared = -5, i;
	char line[64];

	expect("init", pthread_condattr_init(&attr), 0);
	expect("getclock", pthread_condattr_getclock(&attr, &clock), 0);
	expect_number("the usual clock", clock, CLOCK_REALTIME);
	for (i = 0; i < CLOCKS; i++) {
		(void)snprintf(line, sizeof(line), "setclock, %s", clocks[i].name);
		expect(line, pthread_condattr_setclock(&attr, clocks[i].clock),
		       clocks[i].valid ? 0 : EINVAL);
	}
	expect("getclock", pthread_condattr_getclock(&attr, &clock), 0);
	expect_number("the last good clock", clock, CLOCK_MONOTONIC);
	expect("setpshared, 2", pthread_condattr_setpshared(&attr, 2), EINVAL);
	expect("setpshared", pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	expect("getpshared", pthread_condattr_getpshared(&attr, &shared), 0);
	expect_number("shared", shared, PTHREAD_PROCESS_SHARED);
	expect("destroy", pthread_condattr_destroy(&attr), 0);
}

static void nobody_waits(void)
{
	static pthread_cond_t with_initializer = PTHREAD_COND_INITIALIZER;
	int i;

	expect("init without attributes", pthread_cond_init(&cond, NULL), 0);
	for (i = 0; i < 3; i++) {
		expect("signal", pthread_cond_signal(&cond), 0);
		expect("broadcast", pthread_cond_broadcast(&cond), 0);
	}
	expect("destroy", pthread_cond_destroy(&cond), 0);
	expect("init again", pthread_cond_init(&cond, NULL), 0);
	expect("destroy", pthread_cond_destroy(&cond), 0);
	expect("signal with an initializer", pthread_cond_signal(&with_initializer), 0);
	expect("destroy with an initializer", pthread_cond_destroy(&with_initializer), 0);
}

/* Whether the caller owns the mutex after the call, as it has to. */
static int owned_after(int error)
{
	expect("unlock after it", pthread_mutex_unlock(&mutex), 0);
	return error;
}

static int call_timed(void *object, clockid_t clock, const struct timespec *at)
{
	(void)clock;
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	return owned_after(pthread_cond_timedwait(object, &mutex, at));
}

static int call_clock(void *object, clockid_t clock, const struct timespec *at)
{
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	return owned_after(pthread_cond_clockwait(object, &mutex, clock, at));
}

static void deadlines(const struct kind *k, clockid_t clock, int shared)
{
	const struct timed_call timed = { "timedwait", call_timed, &cond,
					  ETIMEDOUT,   EINVAL,     0 };
	const struct timed_call clocked = { "clockwait", call_clock, &cond,
					    ETIMEDOUT,   EINVAL,     0 };

	dprintf(1, "== %s, clock %d, shared %d\n", k->name, (int)clock, shared);
	make_mutex(k);
	make_cond(clock, shared);
	try_moments(&timed, clock);
	try_moments(&clocked, CLOCK_REALTIME);
	try_moments(&clocked, CLOCK_MONOTONIC);
	try_clocks(&clocked, EINVAL);
	expect("destroy", pthread_cond_destroy(&cond), 0);
	expect("destroy the mutex", pthread_mutex_destroy(&mutex), 0);
}

static void *own_for_a_while(void *arg)
{
	int *step = arg;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	set(step, 1);
	NEEDS(becomes(step, 2));
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return NULL;
}

/* Waits by whoever does not own the mutex, and a good wait after them. */
static void not_owned(const struct kind *k)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, FAR_MS);
	int i, step = 0;
	pthread_t t;

	dprintf(1, "== not owned: %s\n", k->name);
	make_mutex(k);
	make_cond(CLOCK_REALTIME, 0);
	for (i = 0; i < 2; i++) {
		expect("wait", pthread_cond_wait(&cond, &mutex), EPERM);
		expect("timedwait", pthread_cond_timedwait(&cond, &mutex, &soon), EPERM);
		expect("clockwait",
		       pthread_cond_clockwait(&cond, &mutex, CLOCK_REALTIME, &soon), EPERM);
		expect("timedwait, over",
		       pthread_cond_timedwait(&cond, &mutex, &moments[0].at), EPERM);
		expect("timedwait, wrong",
		       pthread_cond_timedwait(&cond, &mutex, &moments[5].at), EINVAL);
		expect("clockwait, wrong clock",
		       pthread_cond_clockwait(&cond, &mutex, 99, &moments[0].at), EINVAL);
		if (i == 1)
			break;
		t = begin_thread(own_for_a_while, &step); /* now somebody else owns it */
		NEEDS(becomes(&step, 1));
	}
	set(&step, 2);
	(void)end_thread(t);
	expect("trylock", pthread_mutex_trylock(&mutex), 0);
	expect("signal", pthread_cond_signal(&cond), 0);
	expect("timedwait after it", pthread_cond_timedwait(&cond, &mutex, &moments[0].at),
	       ETIMEDOUT);
	expect("unlock", pthread_mutex_unlock(&mutex), 0);
	expect("destroy", pthread_cond_destroy(&cond), 0);
	expect("destroy the mutex", pthread_mutex_destroy(&mutex), 0);
}

/* A recursive mutex that is owned twice stays owned in the wait. */
static void *try_it(void *arg)
{
	*(int *)arg = pthread_mutex_trylock(&mutex);
	return NULL;
}

static void owned_twice(void)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 30);
	int others = 0;
	pthread_t t;

	make_mutex(&kinds[2]);
	make_cond(CLOCK_REALTIME, 0);
	expect("lock", pthread_mutex_lock(&mutex), 0);
	expect("lock again", pthread_mutex_lock(&mutex), 0);
	t = begin_thread(try_it, &others);
	expect("timedwait", pthread_cond_timedwait(&cond, &mutex, &soon), ETIMEDOUT);
	(void)end_thread(t);
	expect("trylock by others meanwhile", others, EBUSY);
	expect("unlock", pthread_mutex_unlock(&mutex), 0);
	expect("unlock again", pthread_mutex_unlock(&mutex), 0);
	expect("unlock once too often", pthread_mutex_unlock(&mutex), EPERM);
	expect("destroy", pthread_cond_destroy(&cond), 0);
}

/* By one call and the other in turn. */
static int wait_until(void *arg, clockid_t clock, const struct timespec *at)
{
	return (*(int *)arg)++ % 2 ? pthread_cond_timedwait(&cond, &mutex, at)
				   : pthread_cond_clockwait(&cond, &mutex, clock, at);
}

static void times_out(const char *name, clockid_t clock, int shared)
{
	int calls = 0;

	make_mutex(&kinds[0]);
	make_cond(clock, shared);
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	expect_expires(name, clock, wait_until, &calls);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	NEEDS(pthread_cond_destroy(&cond) == 0);
}

/* Waits that are ended by a signal, whatever their deadline. */
enum how { PLAIN, TIMED, CLOCKED };

struct waiter {
	enum how how;
	int waiting;
	int told;
	int error;
};

static void *wait_until_told(void *arg)
{
	struct waiter *w = arg;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	w->waiting = 1;
	while (!w->told && !w->error) {
		if (w->how == PLAIN)
			w->error = pthread_cond_wait(&cond, &mutex);
		else if (w->how == TIMED)
			w->error = pthread_cond_timedwait(&cond, &mutex, &moment_huge);
		else
			w->error = pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC,
							  &moment_huge);
	}
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return NULL;
}

static bool is_waiting(void *arg)
{
	bool waiting;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	waiting = ((struct waiter *)arg)->waiting;
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return waiting;
}

static void tell(struct waiter *w)
{
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	w->told = 1;
	NEEDS(pthread_cond_signal(&cond) == 0);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
}

static void told(const struct kind *k, clockid_t clock, int shared)
{
	static const char *const names[] = { "wait", "timedwait", "clockwait" };
	enum how how;

	make_mutex(k);
	make_cond(clock, shared);
	for (how = PLAIN; how <= CLOCKED; how++) {
		struct waiter w = { .how = how };
		pthread_t t = begin_thread(wait_until_told, &w);

		NEEDS(eventually(is_waiting, &w));
		settle(t, NULL);
		tell(&w);
		(void)end_thread(t);
		dprintf(1, "%s, clock %d, shared %d: ", k->name, (int)clock, shared);
		expect(names[how], w.error, 0);
	}
	expect("destroy", pthread_cond_destroy(&cond), 0);
	expect("destroy the mutex", pthread_mutex_destroy(&mutex), 0);
}

static int handled;

static void on_signal(int signal)
{
	(void)signal;
	add(&handled, 1);
}

/* Handlers run in waits and end none: each answers 0, and only when told. */
static void signals(int flags, int shared)
{
	enum how how;
	int i;

	handle(SIGUSR1, on_signal, flags);
	make_mutex(&kinds[3]);
	make_cond(CLOCK_MONOTONIC, shared);
	for (how = PLAIN; how <= CLOCKED; how++) {
		struct waiter w = { .how = how };
		pthread_t t = begin_thread(wait_until_told, &w);

		NEEDS(eventually(is_waiting, &w));
		set(&handled, 0);
		for (i = 0; i < 12; i++) {
			NEEDS(pthread_kill(t, SIGUSR1) == 0);
			NEEDS(becomes(&handled, i + 1));
			if (i % 3 == 0)
				pass_ms(1);
		}
		tell(&w);
		(void)end_thread(t);
		expect("a wait with handlers in it", w.error, 0);
	}
	expect("destroy", pthread_cond_destroy(&cond), 0);
}

/* One mutex after the other, which is allowed while nobody waits. */
static void other_mutexes(void)
{
	static const int order[] = { 0, 3, 2, 6, 4 };
	struct waiter w;
	unsigned i;

	make_cond(CLOCK_REALTIME, 0);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		pthread_t t;

		make_mutex(&kinds[order[i]]);
		w = (struct waiter){ .how = PLAIN };
		t = begin_thread(wait_until_told, &w);
		NEEDS(eventually(is_waiting, &w));
		tell(&w);
		(void)end_thread(t);
		expect("wait with another mutex", w.error, 0);
		expect("destroy the mutex", pthread_mutex_destroy(&mutex), 0);
	}
	expect("destroy", pthread_cond_destroy(&cond), 0);
}

int main(void)
{
	int i;

	say_begin();
	attributes();
	nobody_waits();
	for (i = 0; i < KINDS; i++) {
		deadlines(&kinds[i], i % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME,
			  kinds[i].shared);
		told(&kinds[i], CLOCK_REALTIME, 0);
		told(&kinds[i], CLOCK_MONOTONIC, 0);
		told(&kinds[i], CLOCK_REALTIME, 1);
		if (kinds[i].type != PTHREAD_MUTEX_NORMAL &&
		    kinds[i].type != PTHREAD_MUTEX_ADAPTIVE_NP)
			not_owned(&kinds[i]);
	}
	owned_twice();
	times_out("wait for 20 ms, realtime", CLOCK_REALTIME, 0);
	times_out("wait for 20 ms, monotonic", CLOCK_MONOTONIC, 0);
	times_out("wait for 20 ms, shared", CLOCK_MONOTONIC, 1);
	signals(0, 0);
	signals(SA_RESTART, 0);
	signals(0, 1);
	other_mutexes();
	return say_end();
}
