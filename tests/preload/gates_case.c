/* SPDX-License-Identifier: MIT */
/* Barriers, once, and what threads do around them: results, counts, ends. */
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/task.h"
#include "say.h"

#define CROWD  5
#define ROUNDS 400

static pthread_barrier_t barrier;
static int serial, arrived, early;

static void *go_through(void *arg)
{
	int k;

	for (k = 1; k <= ROUNDS; k++) {
		int is;

		add(&arrived, 1);
		is = pthread_barrier_wait(&barrier);
		NEEDS(is == 0 || is == PTHREAD_BARRIER_SERIAL_THREAD);
		if (is)
			add(&serial, 1);
		if (get(&arrived) < k * CROWD)
			add(&early, 1);
	}
	return arg;
}

static void barriers(int shared)
{
	pthread_barrierattr_t attr;
	pthread_t t[CROWD];
	int i;

	arrived = serial = early = 0;
	NEEDS(pthread_barrierattr_init(&attr) == 0);
	NEEDS(pthread_barrierattr_setpshared(&attr, shared) == 0);
	expect("init", pthread_barrier_init(&barrier, &attr, CROWD), 0);
	for (i = 0; i < CROWD; i++)
		t[i] = begin_thread(go_through, NULL);
	for (i = 0; i < CROWD; i++)
		(void)end_thread(t[i]);
	expect_number("serial threads", serial, ROUNDS);
	expect_number("let through too early", early, 0);
	expect("destroy", pthread_barrier_destroy(&barrier), 0);
}

static void odd_barriers(void)
{
	expect("init for nobody", pthread_barrier_init(&barrier, NULL, 0), EINVAL);
	expect("init for one", pthread_barrier_init(&barrier, NULL, 1), 0);
	expect_number("wait for oneself", pthread_barrier_wait(&barrier),
		      PTHREAD_BARRIER_SERIAL_THREAD);
	expect("destroy", pthread_barrier_destroy(&barrier), 0);
}

/* Whoever is the serial thread destroys it, though the others are still on their way out. */
static void *meet_once(void *arg)
{
	pthread_barrier_t *b = arg;

	if (pthread_barrier_wait(b) == PTHREAD_BARRIER_SERIAL_THREAD) {
		NEEDS(pthread_barrier_destroy(b) == 0);
		memset(b, 0xa5, sizeof(*b));
	}
	return NULL;
}

static void destroyed_at_once(void)
{
	pthread_t t[CROWD];
	int i, k;

	for (k = 0; k < 60; k++) {
		NEEDS(pthread_barrier_init(&barrier, NULL, CROWD) == 0);
		for (i = 0; i < CROWD; i++)
			t[i] = begin_thread(meet_once, &barrier);
		for (i = 0; i < CROWD; i++)
			(void)end_thread(t[i]);
	}
	say_number("destroyed by the serial thread", k);
}

static pthread_barrier_t stuck;
static int destroying, gone, waiter;

static void *destroy(void *arg)
{
	set(&destroying, 1);
	(void)pthread_barrier_destroy(&stuck);
	set(&gone, 1);
	return arg;
}

static void *meet(void *arg)
{
	set(&waiter, (int)syscall(SYS_gettid));
	(void)pthread_barrier_wait(&stuck);
	return arg;
}

static bool sleeps(void *arg)
{
	(void)arg;
	return get(&waiter) && task_sleeps(get(&waiter));
}

/* Whoever destroys a barrier at which somebody waits waits too; nobody ends that here. */
static void destroyed_in_a_round(void)
{
	NEEDS(pthread_barrier_init(&stuck, NULL, 2) == 0);
	(void)begin_thread(meet, NULL);
	NEEDS(eventually(sleeps, NULL));
	(void)begin_thread(destroy, NULL);
	NEEDS(becomes(&destroying, 1));
	pass_ms(100);
	expect_number("destroyed while somebody waits", get(&gone), 0);
}

/* A cancelled call is begun again by the next. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls, begun;

static void call(void)
{
	if (add(&calls, 1) == 1) {
		set(&begun, 1);
		for (;;) {
			pass_ms(1);
			pthread_testcancel();
		}
	}
}

static void *call_once_only(void *arg)
{
	NEEDS(pthread_once(&once, call) == 0);
	return arg;
}

static void begun_again(void)
{
	pthread_t t[CROWD];
	int i;

	t[0] = begin_thread(call_once_only, NULL);
	NEEDS(becomes(&begun, 1));
	for (i = 1; i < CROWD; i++)
		t[i] = begin_thread(call_once_only, NULL);
	pass_ms(2);
	NEEDS(pthread_cancel(t[0]) == 0);
	for (i = 0; i < CROWD; i++)
		expect_true("cancelled, the first only",
			    (end_thread(t[i]) == PTHREAD_CANCELED) == (i == 0));
	expect_number("calls of a once", calls, 2);
}

/* Spin locks never sleep and are nobody's business. */
static pthread_spinlock_t spin;
static long counted;

static void *count(void *arg)
{
	int k;

	for (k = 0; k < ROUNDS; k++) {
		NEEDS(pthread_spin_lock(&spin) == 0);
		counted++;
		NEEDS(pthread_spin_unlock(&spin) == 0);
	}
	return arg;
}

static void spins(void)
{
	pthread_t t[2];

	NEEDS(pthread_spin_init(&spin, 0) == 0);
	t[0] = begin_thread(count, NULL);
	t[1] = begin_thread(count, NULL);
	(void)end_thread(t[0]);
	(void)end_thread(t[1]);
	expect_number("counted under a spin lock", counted, 2L * ROUNDS);
	expect("trylock", pthread_spin_trylock(&spin), 0);
	expect("trylock again", pthread_spin_trylock(&spin), EBUSY);
}

int main(void)
{
	say_begin();
	barriers(PTHREAD_PROCESS_PRIVATE);
	barriers(PTHREAD_PROCESS_SHARED);
	odd_barriers();
	destroyed_at_once();
	destroyed_in_a_round();
	begun_again();
	spins();
	return say_end();
}
