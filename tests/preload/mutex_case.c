/* SPDX-License-Identifier: MIT */
/* Mutexes of all kinds: what each call answers to the owner, to others and to strangers. */
#include <limits.h>
#include <sched.h>
#include <stdio.h>

#include "moments.h"
#include "say.h"

static int call_lock(void *m, clockid_t clock, const struct timespec *at)
{
	(void)clock;
	(void)at;
	return pthread_mutex_lock(m);
}

static int call_try(void *m, clockid_t clock, const struct timespec *at)
{
	(void)clock;
	(void)at;
	return pthread_mutex_trylock(m);
}

static int call_timed(void *m, clockid_t clock, const struct timespec *at)
{
	(void)clock;
	return pthread_mutex_timedlock(m, at);
}

static int call_clock(void *m, clockid_t clock, const struct timespec *at)
{
	return pthread_mutex_clocklock(m, clock, at);
}

typedef int (*lock_call)(void *m, clockid_t clock, const struct timespec *at);

static const lock_call calls[] = { call_lock, call_try, call_timed, call_clock };
static const char *const call_names[] = { "lock", "trylock", "timedlock", "clocklock" };

/* By a thread of its own. */
struct errand {
	pthread_mutex_t *mutex;
	lock_call call; /* NULL to unlock */
	clockid_t clock;
	const struct timespec *at;
	int error;
};

static void *run_errand(void *arg)
{
	struct errand *e = arg;

	if (!e->call) {
		e->error = pthread_mutex_unlock(e->mutex);
		return NULL;
	}
	e->error = e->call(e->mutex, e->clock, e->at);
	if (!e->error)
		NEEDS(pthread_mutex_unlock(e->mutex) == 0);
	return NULL;
}

static int others(pthread_mutex_t *m, lock_call call, clockid_t clock,
		  const struct timespec *at)
{
	struct errand e = { m, call, clock, at, 0 };

	(void)end_thread(begin_thread(run_errand, &e));
	return e.error;
}

/* For try_moments(): by others while the caller owns it. */
static int others_timed(void *m, clockid_t clock, const struct timespec *at)
{
	return others(m, call_timed, clock, at);
}

static int others_clock(void *m, clockid_t clock, const struct timespec *at)
{
	return others(m, call_clock, clock, at);
}

/* For try_moments(): free, and put back. */
static int free_timed(void *m, clockid_t clock, const struct timespec *at)
{
	int error = call_timed(m, clock, at);

	if (!error)
		NEEDS(pthread_mutex_unlock(m) == 0);
	return error;
}

static int free_clock(void *m, clockid_t clock, const struct timespec *at)
{
	int error = call_clock(m, clock, at);

	if (!error)
		NEEDS(pthread_mutex_unlock(m) == 0);
	return error;
}

struct kind {
	const char *name;
	int type;
	int shared;
	int robust;
	int protocol;
	int relock;   /* what lock answers to its owner; -1: it would wait */
	int stranger; /* what unlock answers to others */
};

#define INHERIT PTHREAD_PRIO_INHERIT

static const struct kind kinds[] = {
	{ "normal", PTHREAD_MUTEX_NORMAL, 0, 0, 0, -1, 0 },
	{ "default", PTHREAD_MUTEX_DEFAULT, 0, 0, 0, -1, 0 },
	{ "adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0, -1, 0 },
	{ "recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0, 0, 0, EPERM },
	{ "errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0, EDEADLK, EPERM },
	{ "shared", PTHREAD_MUTEX_NORMAL, 1, 0, 0, -1, 0 },
	{ "shared recursive", PTHREAD_MUTEX_RECURSIVE, 1, 0, 0, 0, EPERM },
	{ "robust", PTHREAD_MUTEX_NORMAL, 0, 1, 0, -1, EPERM },
	{ "robust shared errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1, 1, 0, EDEADLK, EPERM },
	{ "robust recursive", PTHREAD_MUTEX_RECURSIVE, 0, 1, 0, 0, EPERM },
	{ "inheriting", PTHREAD_MUTEX_NORMAL, 0, 0, INHERIT, -1, EPERM },
	{ "inheriting recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0, INHERIT, 0, EPERM },
	{ "inheriting errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0, INHERIT, EDEADLK,
	  EPERM },
	{ "inheriting robust shared", PTHREAD_MUTEX_ERRORCHECK, 1, 1, INHERIT, EDEADLK,
	  EPERM },
};

#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

static void make(pthread_mutex_t *m, const struct kind *k)
{
	make_mutex_of(m, k->type, k->shared, k->robust, k->protocol);
}

/* Each call by the owner, where it does not wait. */
static void relock(pthread_mutex_t *m, const struct kind *k)
{
	char line[96];
	/* The C library's order of things: trylock looks for the owner in these only. */
	int busy = k->relock > 0 && (k->robust || k->protocol) ? EDEADLK : EBUSY;
	int i;

	for (i = 0; i < 4; i++) {
		bool tries = i == 1;
		int want = tries ? (k->relock == 0 ? 0 : busy) : k->relock;
		int error;

		if (want == -1 && i == 0)
			continue; /* it would wait for ever */
		(void)snprintf(line, sizeof(line), "%s: %s again", k->name, call_names[i]);
		error = calls[i](m, CLOCK_REALTIME, &moments[0].at);
		expect(line, error, want == -1 ? ETIMEDOUT : want);
		if (!error)
			expect("and its unlock", pthread_mutex_unlock(m), 0);
	}
}

static void play(const struct kind *k)
{
	struct timed_call busy_timed = { "timedlock, busy", others_timed, NULL,
					 ETIMEDOUT,         EINVAL,       0 };
	struct timed_call busy_clock = { "clocklock, busy", others_clock, NULL,
					 ETIMEDOUT,         EINVAL,       0 };
	pthread_mutex_t m;
	int i;

	dprintf(1, "== %s\n", k->name);
	make(&m, k);
	for (i = 0; i < 4; i++) {
		expect(call_names[i], calls[i](&m, CLOCK_REALTIME, &moments[0].at), 0);
		expect("trylock by others", others(&m, call_try, 0, NULL), EBUSY);
		expect("unlock", pthread_mutex_unlock(&m), 0);
		expect("trylock by others when free", others(&m, call_try, 0, NULL), 0);
	}
	expect("lock", pthread_mutex_lock(&m), 0);
	relock(&m, k);
	busy_timed.object = busy_clock.object = &m;
	/* The kernel takes those deadlines, and none before 1970. */
	busy_timed.before = k->protocol ? EINVAL : 0;
	try_moments(&busy_timed, CLOCK_REALTIME);
	if (!k->protocol)
		try_moments(&busy_clock, CLOCK_MONOTONIC);
	if (!k->robust)
		expect("destroy while locked", pthread_mutex_destroy(&m), EBUSY);
	expect("unlock by others", others(&m, NULL, 0, NULL), k->stranger);
	expect("unlock by the owner", k->stranger ? pthread_mutex_unlock(&m) : 0, 0);
	if (k->stranger)
		expect("unlock when unlocked", pthread_mutex_unlock(&m), EPERM);
	expect("destroy", pthread_mutex_destroy(&m), 0);
	expect("lock after destroy", pthread_mutex_trylock(&m), EINVAL);
}

/* Deadlines and clocks of a mutex that is free: only what the C library says counts. */
static void free_deadlines(const struct kind *k)
{
	struct timed_call timed = { "timedlock, free", free_timed, NULL, 0, 0, 0 };
	struct timed_call clock = { "clocklock, free", free_clock, NULL, 0, 0, 0 };
	pthread_mutex_t m;

	dprintf(1, "== %s\n", k->name);
	make(&m, k);
	timed.object = clock.object = &m;
	try_moments(&timed, CLOCK_REALTIME);
	try_clocks(&clock, EINVAL);
	NEEDS(pthread_mutex_destroy(&m) == 0);
}

static void recursion_limit(void)
{
	pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	expect("lock", pthread_mutex_lock(&m), 0);
	m.__data.__count = UINT_MAX;
	expect("lock above the limit", pthread_mutex_lock(&m), EAGAIN);
	expect("trylock above the limit", pthread_mutex_trylock(&m), EAGAIN);
	expect("timedlock above the limit", pthread_mutex_timedlock(&m, &moments[0].at),
	       EAGAIN);
	m.__data.__count = 1;
	expect("unlock", pthread_mutex_unlock(&m), 0);
	expect("unlock again", pthread_mutex_unlock(&m), EPERM);
	expect("destroy", pthread_mutex_destroy(&m), 0);
}

static pthread_mutex_t s_normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t s_recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t s_errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t s_adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

static void initializers(void)
{
	pthread_mutex_t *const all[] = { &s_normal, &s_recursive, &s_errorcheck,
					 &s_adaptive };
	static const int again[] = { EBUSY, 0, EBUSY, EBUSY };
	int i;

	for (i = 0; i < 4; i++) {
		expect("lock with an initializer", pthread_mutex_lock(all[i]), 0);
		expect("trylock again", pthread_mutex_trylock(all[i]), again[i]);
		if (!again[i])
			expect("unlock again", pthread_mutex_unlock(all[i]), 0);
		expect("timedlock by others", others_timed(all[i], 0, &moments[0].at),
		       ETIMEDOUT);
		expect("unlock", pthread_mutex_unlock(all[i]), 0);
		expect("destroy", pthread_mutex_destroy(all[i]), 0);
	}
}

/* A waiter gets it, whatever its call, and whoever unlocks. */
static void *unlock_later(void *arg)
{
	pass_ms(5);
	NEEDS(pthread_mutex_unlock(arg) == 0);
	return NULL;
}

static void waits(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	int i;

	for (i = 0; i < 4; i++) {
		struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
		pthread_t t;

		if (i == 1)
			continue;
		NEEDS(pthread_mutex_lock(&m) == 0);
		t = begin_thread(unlock_later, &m);
		expect(call_names[i], calls[i](&m, CLOCK_REALTIME, &at), 0);
		(void)end_thread(t);
		NEEDS(pthread_mutex_unlock(&m) == 0);
	}
	NEEDS(pthread_mutex_lock(&m) == 0);
	{
		pthread_t t = begin_thread(unlock_later, &m);

		expect("clocklock for ever", call_clock(&m, CLOCK_MONOTONIC, &moment_huge),
		       0);
		(void)end_thread(t);
	}
	expect("trylock", pthread_mutex_trylock(&m), EBUSY);
	expect("unlock", pthread_mutex_unlock(&m), 0);
}

#define CROWD 6
#define EACH  3000

static pthread_mutex_t crowded;
static long counted;
static int go;

static void *count(void *arg)
{
	int i;

	while (!get(&go))
		(void)sched_yield();
	for (i = 0; i < EACH; i++) {
		struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
		int how = (i + *(int *)arg) % 4;

		while (calls[how](&crowded, CLOCK_REALTIME, &at) != 0)
			NEEDS(how == 1);
		counted++;
		NEEDS(pthread_mutex_unlock(&crowded) == 0);
	}
	return NULL;
}

static void exclude(const struct kind *k)
{
	pthread_t t[CROWD];
	int i, n[CROWD];

	make(&crowded, k);
	counted = 0;
	set(&go, 0);
	for (i = 0; i < CROWD; i++) {
		n[i] = i;
		t[i] = begin_thread(count, &n[i]);
	}
	set(&go, 1);
	for (i = 0; i < CROWD; i++)
		(void)end_thread(t[i]);
	dprintf(1, "%s: ", k->name);
	expect_number("counted under the lock", counted, CROWD * EACH);
	expect("destroy", pthread_mutex_destroy(&crowded), 0);
}

/* Needs privileges: says what came of it, which is the same either way. */
static void ceiling(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	int old = 0, error;

	NEEDS(pthread_mutexattr_init(&attr) == 0);
	expect("protect", pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT), 0);
	expect("ceiling", pthread_mutexattr_setprioceiling(&attr, 10), 0);
	expect("ceiling too high", pthread_mutexattr_setprioceiling(&attr, 1000), EINVAL);
	expect("init", pthread_mutex_init(&m, &attr), 0);
	error = pthread_mutex_lock(&m);
	say("lock below a ceiling", error);
	if (!error)
		expect("unlock", pthread_mutex_unlock(&m), 0);
	error = pthread_mutex_timedlock(&m, &moments[0].at);
	say("timedlock below a ceiling", error);
	if (!error)
		expect("unlock", pthread_mutex_unlock(&m), 0);
	say("change of a ceiling", pthread_mutex_setprioceiling(&m, 12, &old));
	say_number("old ceiling", old);
	say("destroy", pthread_mutex_destroy(&m));
}

int main(void)
{
	int i;

	say_begin();
	for (i = 0; i < KINDS; i++)
		play(&kinds[i]);
	for (i = 0; i < KINDS; i++)
		free_deadlines(&kinds[i]);
	recursion_limit();
	initializers();
	waits();
	for (i = 0; i < KINDS; i++)
		exclude(&kinds[i]);
	ceiling();
	return say_end();
}
