/* SPDX-License-Identifier: MIT */
/* Reader-writer locks: results, deadlines, preferences, and exclusion under load. */
#include <sched.h>
#include <stdio.h>

#include "moments.h"
#include "say.h"

enum how {
	READ,
	WRITE,
	TRY_READ,
	TRY_WRITE,
	TIMED_READ,
	TIMED_WRITE,
	CLOCK_READ,
	CLOCK_WRITE
};

#define HOWS 8

static const char *const names[HOWS] = {
	"rdlock",      "wrlock",      "tryrdlock",   "trywrlock",
	"timedrdlock", "timedwrlock", "clockrdlock", "clockwrlock",
};

static int call(pthread_rwlock_t *l, enum how how, clockid_t clock,
		const struct timespec *at)
{
	switch (how) {
	case READ:
		return pthread_rwlock_rdlock(l);
	case WRITE:
		return pthread_rwlock_wrlock(l);
	case TRY_READ:
		return pthread_rwlock_tryrdlock(l);
	case TRY_WRITE:
		return pthread_rwlock_trywrlock(l);
	case TIMED_READ:
		return pthread_rwlock_timedrdlock(l, at);
	case TIMED_WRITE:
		return pthread_rwlock_timedwrlock(l, at);
	case CLOCK_READ:
		return pthread_rwlock_clockrdlock(l, clock, at);
	default:
		return pthread_rwlock_clockwrlock(l, clock, at);
	}
}

static bool writes(enum how how)
{
	return how % 2 == 1;
}

/* By a thread of its own, which gives back what it gets. */
struct errand {
	pthread_rwlock_t *lock;
	enum how how;
	clockid_t clock;
	const struct timespec *at;
	int error;
};

static void *run_errand(void *arg)
{
	struct errand *e = arg;

	e->error = call(e->lock, e->how, e->clock, e->at);
	if (!e->error)
		NEEDS(pthread_rwlock_unlock(e->lock) == 0);
	return NULL;
}

static int others(pthread_rwlock_t *l, enum how how, clockid_t clock,
		  const struct timespec *at)
{
	struct errand e = { l, how, clock, at, 0 };

	(void)end_thread(begin_thread(run_errand, &e));
	return e.error;
}

static int others_timed_read(void *l, clockid_t clock, const struct timespec *at)
{
	return others(l, TIMED_READ, clock, at);
}

static int others_timed_write(void *l, clockid_t clock, const struct timespec *at)
{
	return others(l, TIMED_WRITE, clock, at);
}

static int others_clock_read(void *l, clockid_t clock, const struct timespec *at)
{
	return others(l, CLOCK_READ, clock, at);
}

static int others_clock_write(void *l, clockid_t clock, const struct timespec *at)
{
	return others(l, CLOCK_WRITE, clock, at);
}

static void make(pthread_rwlock_t *l, int preference, int shared)
{
	pthread_rwlockattr_t attr;

	NEEDS(pthread_rwlockattr_init(&attr) == 0);
	NEEDS(pthread_rwlockattr_setkind_np(&attr, preference) == 0);
	NEEDS(pthread_rwlockattr_setpshared(&attr, shared) == 0);
	NEEDS(pthread_rwlock_init(l, &attr) == 0);
	NEEDS(pthread_rwlockattr_destroy(&attr) == 0);
}

/* Deadlines and clocks, whatever the others hold; @valid: what good ones that are over give. */
static void deadlines(pthread_rwlock_t *l, const char *state, int read, int write)
{
	const struct timed_call calls[] = {
		{ "timedrdlock", others_timed_read, l, read, EINVAL, 0 },
		{ "timedwrlock", others_timed_write, l, write, EINVAL, 0 },
		{ "clockrdlock", others_clock_read, l, read, EINVAL, 0 },
		{ "clockwrlock", others_clock_write, l, write, EINVAL, 0 },
	};
	int i;

	dprintf(1, "== %s\n", state);
	for (i = 0; i < 4; i++) {
		try_moments(&calls[i], CLOCK_MONOTONIC);
		if (i >= 2)
			try_clocks(&calls[i], EINVAL);
	}
}

static void play(int preference, int shared)
{
	pthread_rwlock_t l;
	enum how how;

	make(&l, preference, shared);
	for (how = READ; how < HOWS; how++) {
		int read = writes(how) ? EBUSY : 0;

		expect(names[how], call(&l, how, CLOCK_REALTIME, &moments[0].at), 0);
		expect("others: tryrdlock", others(&l, TRY_READ, 0, NULL), read);
		expect("others: trywrlock", others(&l, TRY_WRITE, 0, NULL), EBUSY);
		expect("tryrdlock", pthread_rwlock_tryrdlock(&l), read);
		if (!read)
			expect("unlock one of two", pthread_rwlock_unlock(&l), 0);
		expect("trywrlock", pthread_rwlock_trywrlock(&l), EBUSY);
		if (writes(how)) {
			expect("rdlock of the writer", pthread_rwlock_rdlock(&l), EDEADLK);
			expect("wrlock of the writer", pthread_rwlock_wrlock(&l), EDEADLK);
			expect("timedrdlock of the writer",
			       pthread_rwlock_timedrdlock(&l, &moments[0].at), EDEADLK);
			expect("timedwrlock of the writer",
			       pthread_rwlock_timedwrlock(&l, &moments[0].at), EDEADLK);
			expect("timedwrlock of the writer, a wrong time",
			       pthread_rwlock_timedwrlock(&l, &moments[5].at), EINVAL);
		}
		expect("unlock", pthread_rwlock_unlock(&l), 0);
	}
	deadlines(&l, "free", 0, 0);
	NEEDS(pthread_rwlock_rdlock(&l) == 0);
	deadlines(&l, "read", 0, ETIMEDOUT);
	NEEDS(pthread_rwlock_unlock(&l) == 0 && pthread_rwlock_wrlock(&l) == 0);
	deadlines(&l, "written", ETIMEDOUT, ETIMEDOUT);
	NEEDS(pthread_rwlock_unlock(&l) == 0);
	expect("destroy", pthread_rwlock_destroy(&l), 0);
}

static void initializers(void)
{
	static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
	static pthread_rwlock_t b = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	pthread_rwlock_t *const all[] = { &a, &b };
	int i;

	for (i = 0; i < 2; i++) {
		expect("rdlock with an initializer", pthread_rwlock_rdlock(all[i]), 0);
		expect("trywrlock", pthread_rwlock_trywrlock(all[i]), EBUSY);
		expect("unlock", pthread_rwlock_unlock(all[i]), 0);
		expect("wrlock", pthread_rwlock_wrlock(all[i]), 0);
		expect("unlock", pthread_rwlock_unlock(all[i]), 0);
		expect("destroy", pthread_rwlock_destroy(all[i]), 0);
	}
}

/* Who waits gets it, and so does a reader that waits without an end. */
static void *get_it(void *arg)
{
	struct errand *e = arg;

	e->error = call(e->lock, e->how, CLOCK_MONOTONIC, e->at);
	NEEDS(pthread_rwlock_unlock(e->lock) == 0);
	return NULL;
}

static void waits(int shared)
{
	pthread_rwlock_t l;
	enum how how;

	make(&l, PTHREAD_RWLOCK_PREFER_READER_NP, shared);
	for (how = READ; how < HOWS; how++) {
		struct errand e = { &l, how, 0, &moment_huge, 0 };
		pthread_t t;

		if (how == TRY_READ || how == TRY_WRITE)
			continue;
		NEEDS(pthread_rwlock_wrlock(&l) == 0);
		t = begin_thread(get_it, &e);
		pass_ms(3);
		expect("unlock", pthread_rwlock_unlock(&l), 0);
		(void)end_thread(t);
		expect(names[how], e.error, 0);
	}
	expect("destroy", pthread_rwlock_destroy(&l), 0);
}

static bool no_more_readers(void *arg)
{
	int error = pthread_rwlock_tryrdlock(arg);

	if (!error)
		NEEDS(pthread_rwlock_unlock(arg) == 0);
	return error == EBUSY;
}

/* A waiting writer keeps new readers out where writers are preferred, and nowhere else. */
static void prefers(int preference, bool writers)
{
	pthread_rwlock_t l;
	struct errand e = { &l, WRITE, 0, NULL, 0 };
	pthread_t t;

	make(&l, preference, 0);
	NEEDS(pthread_rwlock_rdlock(&l) == 0);
	t = begin_thread(get_it, &e);
	if (writers) {
		expect_true("a waiting writer keeps readers out",
			    eventually(no_more_readers, &l));
		expect("timedrdlock then", others(&l, TIMED_READ, 0, &moments[0].at),
		       ETIMEDOUT);
	} else {
		pass_ms(20);
		expect("tryrdlock beside a waiting writer", others(&l, TRY_READ, 0, NULL),
		       0);
		expect("rdlock beside a waiting writer", others(&l, READ, 0, NULL), 0);
	}
	NEEDS(pthread_rwlock_unlock(&l) == 0);
	(void)end_thread(t);
	expect("the writer", e.error, 0);
	expect("destroy", pthread_rwlock_destroy(&l), 0);
}

#define CROWD 6
#define EACH  1500

static pthread_rwlock_t crowded;
static int inside, go;
static long written, torn, pair[2];

static void *crowd(void *arg)
{
	int i, n = *(int *)arg;

	while (!get(&go))
		(void)sched_yield();
	for (i = 0; i < EACH; i++) {
		struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
		enum how how = (enum how)((i + n) % HOWS);

		if (writes(how) && i % 5 != 0)
			how = how - 1;
		while (call(&crowded, how, CLOCK_REALTIME, &at) != 0)
			NEEDS(how == TRY_READ || how == TRY_WRITE);
		if (writes(how)) {
			NEEDS(add(&inside, 100) == 100);
			pair[0]++;
			pair[1]++;
			written++;
			add(&inside, -100);
		} else {
			NEEDS(add(&inside, 1) < 100);
			if (pair[0] != pair[1])
				torn++;
			add(&inside, -1);
		}
		NEEDS(pthread_rwlock_unlock(&crowded) == 0);
	}
	return NULL;
}

static void exclude(int preference, int shared)
{
	pthread_t t[CROWD];
	int i, n[CROWD];

	make(&crowded, preference, shared);
	written = torn = 0;
	set(&go, 0);
	for (i = 0; i < CROWD; i++) {
		n[i] = i;
		t[i] = begin_thread(crowd, &n[i]);
	}
	set(&go, 1);
	for (i = 0; i < CROWD; i++)
		(void)end_thread(t[i]);
	say_number("written", written);
	expect_number("torn", torn, 0);
	expect("destroy", pthread_rwlock_destroy(&crowded), 0);
}

/* Readers follow each other without a gap, and a preferred writer gets in all the same. */
static pthread_rwlock_t busy;
static int stop;

static void *read_on(void *arg)
{
	while (!get(&stop)) {
		NEEDS(pthread_rwlock_rdlock(&busy) == 0);
		pass_us(300);
		NEEDS(pthread_rwlock_unlock(&busy) == 0);
	}
	return arg;
}

static void not_starved(void)
{
	pthread_t t[4];
	int i;

	make(&busy, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0);
	for (i = 0; i < 4; i++)
		t[i] = begin_thread(read_on, NULL);
	for (i = 0; i < 5; i++) {
		struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);

		pass_ms(2);
		expect("a writer among readers", pthread_rwlock_timedwrlock(&busy, &at), 0);
		expect("unlock", pthread_rwlock_unlock(&busy), 0);
	}
	set(&stop, 1);
	for (i = 0; i < 4; i++)
		(void)end_thread(t[i]);
	expect("destroy", pthread_rwlock_destroy(&busy), 0);
}

int main(void)
{
	static const int preferences[] = {
		PTHREAD_RWLOCK_PREFER_READER_NP,
		PTHREAD_RWLOCK_PREFER_WRITER_NP,
		PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP,
	};
	int i;

	say_begin();
	for (i = 0; i < 3; i++) {
		play(preferences[i], PTHREAD_PROCESS_PRIVATE);
		play(preferences[i], PTHREAD_PROCESS_SHARED);
	}
	initializers();
	waits(PTHREAD_PROCESS_PRIVATE);
	waits(PTHREAD_PROCESS_SHARED);
	prefers(PTHREAD_RWLOCK_PREFER_READER_NP, false);
	prefers(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, true);
	for (i = 0; i < 3; i++)
		exclude(preferences[i], i % 2);
	not_starved();
	return say_end();
}
