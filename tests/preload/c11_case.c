/* SPDX-License-Identifier: MIT */
/* Threads of C11: mtx, cnd, call_once, and what they answer. */
#include <stdio.h>
#include <threads.h>

#include "moments.h"
#include "say.h"

static void result(const char *name, int is, int want)
{
	static const char *const names[] = { "success", "busy", "error", "nomem",
					     "timedout" };
	static const int values[] = { thrd_success, thrd_busy, thrd_error, thrd_nomem,
				      thrd_timedout };
	char line[96];
	int i;

	for (i = 0; i < 5; i++) {
		if (values[i] == is)
			break;
	}
	(void)snprintf(line, sizeof(line), "%s, %s", name, i < 5 ? names[i] : "unknown");
	expect_true(line, is == want);
}

static mtx_t mutex;
static cnd_t cond;

static int try_it(void *arg)
{
	int is = mtx_trylock(&mutex);

	(void)arg;
	if (is == thrd_success)
		NEEDS(mtx_unlock(&mutex) == thrd_success);
	return is;
}

static int others(thrd_start_t body, void *arg)
{
	thrd_t t;
	int is;

	NEEDS(thrd_create(&t, body, arg) == thrd_success);
	NEEDS(thrd_join(t, &is) == thrd_success);
	return is;
}

static int try_timed(void *arg)
{
	int is = mtx_timedlock(&mutex, arg);

	if (is == thrd_success)
		NEEDS(mtx_unlock(&mutex) == thrd_success);
	return is;
}

static void mutexes(int type)
{
	struct timespec at;
	int i;

	dprintf(1, "== type %d\n", type);
	result("init", mtx_init(&mutex, type), thrd_success);
	result("lock", mtx_lock(&mutex), thrd_success);
	result("trylock by others", others(try_it, NULL), thrd_busy);
	if (type & mtx_recursive) {
		result("lock again", mtx_lock(&mutex), thrd_success);
		result("unlock", mtx_unlock(&mutex), thrd_success);
	} else {
		result("trylock again", mtx_trylock(&mutex), thrd_busy);
	}
	for (i = 0; i < MOMENTS; i++) {
		char line[64];
		int want = moments[i].kind == WRONG ? thrd_error : thrd_timedout;

		at = moments[i].at;
		(void)snprintf(line, sizeof(line), "timedlock by others, %s",
			       moments[i].name);
		result(line, others(try_timed, &at), want);
	}
	result("unlock", mtx_unlock(&mutex), thrd_success);
	at = moments[0].at;
	result("timedlock by others when free", others(try_timed, &at), thrd_success);
	mtx_destroy(&mutex);
}

static int stage;

static int answer(void *arg)
{
	(void)arg;
	NEEDS(mtx_lock(&mutex) == thrd_success);
	while (stage != 1)
		NEEDS(cnd_wait(&cond, &mutex) == thrd_success);
	stage = 2;
	NEEDS(cnd_broadcast(&cond) == thrd_success);
	NEEDS(mtx_unlock(&mutex) == thrd_success);
	return 7;
}

static void conds(void)
{
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
	thrd_t t;
	int i, is;

	result("init", mtx_init(&mutex, mtx_timed), thrd_success);
	result("init", cnd_init(&cond), thrd_success);
	result("signal to nobody", cnd_signal(&cond), thrd_success);
	result("broadcast to nobody", cnd_broadcast(&cond), thrd_success);
	result("lock", mtx_lock(&mutex), thrd_success);
	for (i = 0; i < MOMENTS; i++) {
		bool wrong = moments[i].kind == WRONG || moments[i].kind == WRONG_BEFORE;
		char line[64];

		(void)snprintf(line, sizeof(line), "timedwait, %s", moments[i].name);
		result(line, cnd_timedwait(&cond, &mutex, &moments[i].at),
		       wrong ? thrd_error : thrd_timedout);
		result("still locked", others(try_it, NULL), thrd_busy);
	}
	NEEDS(thrd_create(&t, answer, NULL) == thrd_success);
	stage = 1;
	result("signal", cnd_signal(&cond), thrd_success);
	while (stage != 2)
		NEEDS(cnd_timedwait(&cond, &mutex, &at) == thrd_success);
	result("unlock", mtx_unlock(&mutex), thrd_success);
	result("join", thrd_join(t, &is), thrd_success);
	expect_number("what the thread returned", is, 7);
	cnd_destroy(&cond);
	mtx_destroy(&mutex);
}

/* A pair of threads, one turn each, signals and broadcasts. */
#define TURNS 2000

static long turns;

static int take_turns(void *arg)
{
	int n = *(int *)arg, k;

	NEEDS(mtx_lock(&mutex) == thrd_success);
	for (k = 0; k < TURNS; k++) {
		while (turns % 2 != n)
			NEEDS(cnd_wait(&cond, &mutex) == thrd_success);
		turns++;
		NEEDS((k % 2 ? cnd_signal(&cond) : cnd_broadcast(&cond)) == thrd_success);
	}
	NEEDS(mtx_unlock(&mutex) == thrd_success);
	return 0;
}

static void pairs(void)
{
	static int n[] = { 0, 1 };
	thrd_t t[2];
	int i;

	NEEDS(mtx_init(&mutex, mtx_plain) == thrd_success &&
	      cnd_init(&cond) == thrd_success);
	for (i = 0; i < 2; i++)
		NEEDS(thrd_create(&t[i], take_turns, &n[i]) == thrd_success);
	for (i = 0; i < 2; i++)
		NEEDS(thrd_join(t[i], NULL) == thrd_success);
	expect_number("turns", turns, 2L * TURNS);
	cnd_destroy(&cond);
	mtx_destroy(&mutex);
}

static once_flag flag = ONCE_FLAG_INIT;
static int called;

static void count_call(void)
{
	pass_ms(3);
	called++;
}

static int call_it(void *arg)
{
	(void)arg;
	call_once(&flag, count_call);
	return called;
}

static void once(void)
{
	thrd_t t[4];
	int i, is, seen = 0;

	for (i = 0; i < 4; i++)
		NEEDS(thrd_create(&t[i], call_it, NULL) == thrd_success);
	for (i = 0; i < 4; i++) {
		NEEDS(thrd_join(t[i], &is) == thrd_success);
		seen += is;
	}
	expect_number("who saw that it was called once", seen, 4);
}

int main(void)
{
	say_begin();
	mutexes(mtx_plain);
	mutexes(mtx_timed);
	mutexes(mtx_plain | mtx_recursive);
	mutexes(mtx_timed | mtx_recursive);
	conds();
	pairs();
	once();
	return say_end();
}
