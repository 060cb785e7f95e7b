/* SPDX-License-Identifier: MIT */
/* Semaphores: limits, deadlines and clocks, named ones, counting. */
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "moments.h"
#include "say.h"

static void limits(void)
{
	sem_t s;
	int value;

	expect("init above the maximum", error_of(sem_init(&s, 0, SEM_VALUE_MAX + 1U)),
	       EINVAL);
	expect("init with all bits", error_of(sem_init(&s, 0, UINT_MAX)), EINVAL);
	expect("init at the maximum", error_of(sem_init(&s, 0, SEM_VALUE_MAX)), 0);
	expect("post at the maximum", error_of(sem_post(&s)), EOVERFLOW);
	expect("getvalue", error_of(sem_getvalue(&s, &value)), 0);
	expect_number("value at the maximum", value, SEM_VALUE_MAX);
	expect("wait at the maximum", error_of(sem_wait(&s)), 0);
	expect("post below the maximum", error_of(sem_post(&s)), 0);
	expect("post at the maximum again", error_of(sem_post(&s)), EOVERFLOW);
	expect("destroy", error_of(sem_destroy(&s)), 0);
}

static void tries(void)
{
	sem_t s;
	int value;

	expect("init", error_of(sem_init(&s, 0, 2)), 0);
	expect("trywait, 2 left", error_of(sem_trywait(&s)), 0);
	expect("wait, 1 left", error_of(sem_wait(&s)), 0);
	expect("trywait, none left", error_of(sem_trywait(&s)), EAGAIN);
	expect("getvalue of an empty one", error_of(sem_getvalue(&s, &value)), 0);
	expect_number("value of an empty one", value, 0);
	errno = ERANGE;
	expect("post", sem_post(&s), 0);
	expect("wait", sem_wait(&s), 0);
	expect("errno after calls that succeeded", errno, ERANGE);
	(void)sem_destroy(&s);
}

static int call_timed(void *object, clockid_t clock, const struct timespec *at)
{
	(void)clock;
	return error_of(sem_timedwait(object, at));
}

static int call_clock(void *object, clockid_t clock, const struct timespec *at)
{
	return error_of(sem_clockwait(object, clock, at));
}

/* With a token the same calls, which put it back. */
static int call_timed_free(void *object, clockid_t clock, const struct timespec *at)
{
	int error = call_timed(object, clock, at);

	if (!error)
		NEEDS(sem_post(object) == 0);
	return error;
}

static int call_clock_free(void *object, clockid_t clock, const struct timespec *at)
{
	int error = call_clock(object, clock, at);

	if (!error)
		NEEDS(sem_post(object) == 0);
	return error;
}

static void deadlines(int shared)
{
	sem_t empty, full;
	struct timed_call calls[] = {
		{ "timedwait, empty", call_timed, &empty, ETIMEDOUT, EINVAL, 0 },
		{ "timedwait, a token", call_timed_free, &full, 0, EINVAL, 0 },
		{ "clockwait, empty", call_clock, &empty, ETIMEDOUT, EINVAL, 0 },
		{ "clockwait, a token", call_clock_free, &full, 0, EINVAL, 0 },
	};
	int i, value;

	NEEDS(sem_init(&empty, shared, 0) == 0 && sem_init(&full, shared, 1) == 0);
	for (i = 0; i < 4; i++)
		try_moments(&calls[i], CLOCK_MONOTONIC);
	try_moments(&calls[2], CLOCK_REALTIME);
	try_clocks(&calls[2], EINVAL);
	try_clocks(&calls[3], EINVAL);
	NEEDS(sem_getvalue(&full, &value) == 0);
	expect_number("the token is still there", value, 1);
	(void)sem_destroy(&empty);
	(void)sem_destroy(&full);
}

static int wait_until(void *arg, clockid_t clock, const struct timespec *at)
{
	return error_of(sem_clockwait(arg, clock, at));
}

static void times_out(const char *name, clockid_t clock)
{
	sem_t s;

	NEEDS(sem_init(&s, 0, 0) == 0);
	expect_expires(name, clock, wait_until, &s);
	(void)sem_destroy(&s);
}

struct huge_wait {
	sem_t sem;
	clockid_t clock;
	int error;
};

static void *wait_hugely(void *arg)
{
	struct huge_wait *h = arg;

	h->error = error_of(sem_clockwait(&h->sem, h->clock, &moment_huge));
	return NULL;
}

static void waits_hugely(const char *name, clockid_t clock)
{
	struct huge_wait h = { .clock = clock };
	pthread_t t;

	NEEDS(sem_init(&h.sem, 0, 0) == 0);
	t = begin_thread(wait_hugely, &h);
	settle(t, NULL);
	expect("post", error_of(sem_post(&h.sem)), 0);
	(void)end_thread(t);
	expect(name, h.error, 0);
	(void)sem_destroy(&h.sem);
}

static void named(void)
{
	char name[64];
	sem_t *a, *b;
	int value;

	(void)snprintf(name, sizeof(name), "/preload-case-%ld", (long)getpid());
	a = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	NEEDS(a != SEM_FAILED);
	b = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	expect("open one that exists", b == SEM_FAILED ? errno : 0, EEXIST);
	b = sem_open(name, 0);
	expect_true("opened twice, one place", a == b);
	expect("wait", error_of(sem_wait(a)), 0);
	expect("trywait", error_of(sem_trywait(b)), EAGAIN);
	expect("timedwait", call_timed(b, 0, &moments[0].at), ETIMEDOUT);
	expect("post", error_of(sem_post(b)), 0);
	expect("getvalue", error_of(sem_getvalue(a, &value)), 0);
	expect_number("value", value, 1);
	expect("close", error_of(sem_close(a)), 0);
	expect("close again", error_of(sem_close(b)), 0);
	expect("unlink", error_of(sem_unlink(name)), 0);
	expect("unlink again", error_of(sem_unlink(name)), ENOENT);
	b = sem_open(name, 0);
	expect("open one that is gone", b == SEM_FAILED ? errno : 0, ENOENT);
}

#define POSTERS 3
#define TAKERS  3
#define EACH    2000

static sem_t counted;

static void *post_many(void *arg)
{
	int i;

	for (i = 0; i < EACH; i++)
		NEEDS(sem_post(&counted) == 0);
	return arg;
}

/* Every kind of call takes its share. */
static void *take_many(void *arg)
{
	int i;

	for (i = 0; i < EACH; i++) {
		struct timespec until = in_ms(CLOCK_REALTIME, FAR_MS);

		switch (i % 3) {
		case 0:
			NEEDS(sem_wait(&counted) == 0);
			break;
		case 1:
			NEEDS(sem_timedwait(&counted, &until) == 0);
			break;
		default:
			if (sem_trywait(&counted) != 0)
				NEEDS(errno == EAGAIN && sem_wait(&counted) == 0);
		}
	}
	return arg;
}

static void counts(void)
{
	pthread_t t[POSTERS + TAKERS];
	int i, value;

	NEEDS(sem_init(&counted, 0, 0) == 0);
	for (i = 0; i < POSTERS + TAKERS; i++)
		t[i] = begin_thread(i < TAKERS ? take_many : post_many, NULL);
	for (i = 0; i < POSTERS + TAKERS; i++)
		(void)end_thread(t[i]);
	NEEDS(sem_getvalue(&counted, &value) == 0);
	expect_number("left when all is taken", value, 0);
	expect("trywait when all is taken", error_of(sem_trywait(&counted)), EAGAIN);
	expect("destroy", error_of(sem_destroy(&counted)), 0);
}

/* The waiter frees the semaphore as soon as it has its token. */
static void *wait_and_free(void *arg)
{
	sem_t *s = arg;

	NEEDS(sem_wait(s) == 0 && sem_destroy(s) == 0);
	*(volatile int *)s = -1;
	return NULL;
}

static void destroyed_at_once(void)
{
	static sem_t s;
	int i;

	for (i = 0; i < 200; i++) {
		pthread_t t;

		NEEDS(sem_init(&s, 0, 0) == 0);
		t = begin_thread(wait_and_free, &s);
		if (i % 4 == 0)
			pass_us(100);
		NEEDS(sem_post(&s) == 0);
		(void)end_thread(t);
	}
	say_number("destroyed by the waiter", i);
}

int main(void)
{
	say_begin();
	limits();
	tries();
	deadlines(0);
	deadlines(1);
	times_out("wait for 20 ms, realtime", CLOCK_REALTIME);
	times_out("wait for 20 ms, monotonic", CLOCK_MONOTONIC);
	waits_hugely("wait for ever, realtime", CLOCK_REALTIME);
	waits_hugely("wait for ever, monotonic", CLOCK_MONOTONIC);
	named();
	counts();
	destroyed_at_once();
	return say_end();
}
