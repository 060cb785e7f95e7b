/* SPDX-License-Identifier: MIT */
/*
 * Condition variables as programs of x86-64 from before 2003 have them: of one word, which the C
 * library makes a pointer to the real one.
 */
#include <pthread.h>

#include "moments.h"
#include "say.h"

__asm__(".symver old_init, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver old_destroy, pthread_cond_destroy@GLIBC_2.2.5");
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_signal, pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver old_broadcast, pthread_cond_broadcast@GLIBC_2.2.5");

int old_init(void *cond, const pthread_condattr_t *attr);
int old_destroy(void *cond);
int old_wait(void *cond, pthread_mutex_t *mutex);
int old_timedwait(void *cond, pthread_mutex_t *mutex, const struct timespec *at);
int old_signal(void *cond);
int old_broadcast(void *cond);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* What follows the word must stay as it is. */
static struct {
	void *cond;
	unsigned char after[56];
} old;

static int turn, waits;

static void *answer(void *arg)
{
	int k;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	for (k = 0; k < 300; k++) {
		while (turn % 2 == 0) {
			waits++;
			NEEDS(old_wait(&old.cond, &mutex) == 0);
		}
		turn++;
		NEEDS((k % 2 ? old_signal(&old.cond) : old_broadcast(&old.cond)) == 0);
	}
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return arg;
}

static void take_turns(void)
{
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
	pthread_t t = begin_thread(answer, NULL);
	int k;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	for (k = 0; k < 300; k++) {
		turn++;
		NEEDS(old_signal(&old.cond) == 0);
		while (turn % 2)
			NEEDS(old_timedwait(&old.cond, &mutex, &at) == 0);
	}
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	(void)end_thread(t);
	expect_number("turns", turn, 600);
}

int main(void)
{
	int i, changed = 0;

	say_begin();
	/* An initializer of that time is all zero; the first use makes it. */
	expect("signal", old_signal(&old.cond), 0);
	expect("lock", pthread_mutex_lock(&mutex), 0);
	for (i = 0; i < MOMENTS; i++) {
		if (moments[i].kind == OVER)
			expect(moments[i].name,
			       old_timedwait(&old.cond, &mutex, &moments[i].at), ETIMEDOUT);
		else
			say(moments[i].name,
			    old_timedwait(&old.cond, &mutex, &moments[i].at));
	}
	expect("unlock", pthread_mutex_unlock(&mutex), 0);
	take_turns();
	expect("destroy", old_destroy(&old.cond), 0);
	expect("init", old_init(&old.cond, NULL), 0);
	turn = 0;
	take_turns();
	expect("destroy", old_destroy(&old.cond), 0);
	for (i = 0; i < 56; i++)
		changed += old.after[i] != 0;
	expect_number("bytes changed behind the word", changed, 0);
	return say_end();
}
