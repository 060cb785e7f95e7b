/* SPDX-License-Identifier: MIT */
/* Cancellation beside signals, in calls that are no cancellation points, and in loops nearby. */
#include <semaphore.h>
#include <stdio.h>

#include "moments.h"
#include "say.h"

/* Waiters that are told once, one of which is cancelled meanwhile. */
struct pair {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int waiting, told, cancelled;
};

static void cancelled_in_wait(void *arg)
{
	struct pair *p = arg;

	p->cancelled++;
	NEEDS(pthread_mutex_unlock(&p->mutex) == 0);
}

static void *wait_to_be_told(void *arg)
{
	struct pair *p = arg;

	NEEDS(pthread_mutex_lock(&p->mutex) == 0);
	p->waiting++;
	pthread_cleanup_push(cancelled_in_wait, p);
	NEEDS(pthread_cond_wait(&p->cond, &p->mutex) == 0);
	pthread_cleanup_pop(0);
	p->told++;
	NEEDS(pthread_mutex_unlock(&p->mutex) == 0);
	return NULL;
}

static bool both_wait(void *arg)
{
	struct pair *p = arg;
	bool both;

	NEEDS(pthread_mutex_lock(&p->mutex) == 0);
	both = p->waiting == 2;
	NEEDS(pthread_mutex_unlock(&p->mutex) == 0);
	return both;
}

static bool somebody_told(void *arg)
{
	struct pair *p = arg;
	bool told;

	NEEDS(pthread_mutex_lock(&p->mutex) == 0);
	told = p->told > 0;
	NEEDS(pthread_mutex_unlock(&p->mutex) == 0);
	return told;
}

/*
 * Threads that ended by themselves and whose result is PTHREAD_CANCELED all the same: glibc 2.36
 * stores that in the handler of its signal, which may run as late as at the thread's end. That
 * takes a thread that cancels and is held up in pthread_cancel(), so not most of them.
 */
static int late_results, cancellations;

/* The signal and the cancellation of the first waiter, in either order, the mutex held or not. */
static void both_at_once(int round, pthread_mutexattr_t *attr, pthread_condattr_t *cattr)
{
	struct pair p = { .waiting = 0 };
	pthread_t t[2];
	void *is[2];

	NEEDS(pthread_mutex_init(&p.mutex, attr) == 0 &&
	      pthread_cond_init(&p.cond, cattr) == 0);
	t[0] = begin_thread(wait_to_be_told, &p);
	if (round % 2)
		pass_us(100);
	t[1] = begin_thread(wait_to_be_told, &p);
	NEEDS(eventually(both_wait, &p));
	if (round & 2)
		NEEDS(pthread_mutex_lock(&p.mutex) == 0);
	if (round & 4)
		NEEDS(pthread_cancel(t[0]) == 0);
	NEEDS(pthread_cond_signal(&p.cond) == 0);
	if (!(round & 4))
		NEEDS(pthread_cancel(t[0]) == 0);
	if (round & 2)
		NEEDS(pthread_mutex_unlock(&p.mutex) == 0);
	is[0] = end_thread(t[0]);
	/* A cancelled waiter that was told tells the other. */
	NEEDS(eventually(somebody_told, &p));
	NEEDS(pthread_cond_broadcast(&p.cond) == 0);
	is[1] = end_thread(t[1]);
	NEEDS(is[1] == NULL && p.told + p.cancelled == 2);
	NEEDS(is[0] == PTHREAD_CANCELED || p.cancelled == 0);
	cancellations++;
	late_results += is[0] == PTHREAD_CANCELED && p.cancelled == 0;
	NEEDS(pthread_cond_destroy(&p.cond) == 0 && pthread_mutex_destroy(&p.mutex) == 0);
}

static void not_lost(int shared)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t cattr;
	int k;

	NEEDS(pthread_mutexattr_init(&attr) == 0);
	NEEDS(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK) == 0);
	NEEDS(pthread_condattr_init(&cattr) == 0);
	NEEDS(pthread_condattr_setpshared(&cattr, shared) == 0);
	for (k = 0; k < 80; k++)
		both_at_once(k, &attr, &cattr);
	say_number("signals beside a cancellation, none lost", k);
}

/* A token is taken, or the wait is cancelled: never both, never neither. */
static sem_t sem;

static void *take_one(void *arg)
{
	int *taken = arg, old;

	NEEDS(sem_wait(&sem) == 0);
	NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
	set(taken, 1);
	return NULL;
}

static void token_or_cancelled(void)
{
	int k, wrong = 0;

	NEEDS(sem_init(&sem, 0, 0) == 0);
	for (k = 0; k < 100; k++) {
		int taken = 0, value;
		pthread_t t = begin_thread(take_one, &taken);
		void *is;

		if (k % 4)
			pass_us(k % 4 * 40);
		if (k % 2)
			NEEDS(sem_post(&sem) == 0);
		NEEDS(pthread_cancel(t) == 0);
		if (!(k % 2))
			NEEDS(sem_post(&sem) == 0);
		is = end_thread(t);
		NEEDS(sem_getvalue(&sem, &value) == 0);
		wrong += taken + value != 1;
		wrong += is != PTHREAD_CANCELED && !taken;
		cancellations++;
		late_results += is == PTHREAD_CANCELED && taken;
		while (sem_trywait(&sem) == 0)
			;
	}
	expect_number("a token beside a cancellation, what is wrong", wrong, 0);
}

/* No cancellation points. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static int step;

static void *lock_pending(void *arg)
{
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS),
			mono = in_ms(CLOCK_MONOTONIC, FAR_MS);
	int *how = arg, is = -1, old;

	NEEDS(pthread_cancel(pthread_self()) == 0);
	set(&step, 1);
	switch (*how) {
	case 0:
		is = pthread_mutex_lock(&mutex);
		break;
	case 1:
		is = pthread_mutex_timedlock(&mutex, &at);
		break;
	case 2:
		is = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &mono);
		break;
	case 3:
		is = pthread_rwlock_rdlock(&lock);
		break;
	case 4:
		is = pthread_rwlock_wrlock(&lock);
		break;
	case 5:
		is = pthread_rwlock_timedrdlock(&lock, &at);
		break;
	case 6:
		is = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &mono);
		break;
	default:
		is = pthread_barrier_wait(&barrier);
		is = is == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : is;
	}
	NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
	set(&step, 2);
	NEEDS(is == 0);
	if (*how <= 2)
		NEEDS(pthread_mutex_unlock(&mutex) == 0);
	else if (*how <= 6)
		NEEDS(pthread_rwlock_unlock(&lock) == 0);
	NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old) == 0);
	pthread_testcancel();
	return NULL;
}

static void no_points(void)
{
	static const char *const names[] = {
		"mutex_lock",         "mutex_timedlock", "mutex_clocklock",
		"rwlock_rdlock",      "rwlock_wrlock",   "rwlock_timedrdlock",
		"rwlock_clockwrlock", "barrier_wait",
	};
	int how;

	NEEDS(pthread_barrier_init(&barrier, NULL, 2) == 0);
	for (how = 0; how < 8; how++) {
		pthread_t t;

		NEEDS(pthread_mutex_lock(&mutex) == 0 && pthread_rwlock_wrlock(&lock) == 0);
		set(&step, 0);
		t = begin_thread(lock_pending, &how);
		NEEDS(becomes(&step, 1));
		pass_ms(3);
		NEEDS(pthread_mutex_unlock(&mutex) == 0 &&
		      pthread_rwlock_unlock(&lock) == 0);
		if (how == 7) {
			int is = pthread_barrier_wait(&barrier);

			NEEDS(is == 0 || is == PTHREAD_BARRIER_SERIAL_THREAD);
		}
		expect_true(names[how],
			    end_thread(t) == PTHREAD_CANCELED && get(&step) == 2);
	}
}

/* Asynchronous cancellation of a thread that has waited before, in a loop without calls. */
static void *spin_for_ever(void *arg)
{
	struct timespec at = in_ms(CLOCK_REALTIME, 1);
	int old;

	NEEDS(sem_timedwait(&sem, &at) == -1 && errno == ETIMEDOUT);
	NEEDS(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
	NEEDS(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old) == 0);
	expect_number("the type was deferred", old, PTHREAD_CANCEL_DEFERRED);
	set(&step, 1);
	while (*(volatile int *)arg == 0)
		;
	return NULL;
}

static void asynchronous(void)
{
	int zero = 0;
	pthread_t t;

	set(&step, 0);
	t = begin_thread(spin_for_ever, &zero);
	NEEDS(becomes(&step, 1));
	NEEDS(pthread_cancel(t) == 0);
	expect_true("cancelled in a loop", end_thread(t) == PTHREAD_CANCELED);
}

/* Handlers run once each, the last first, and destructors after them. */
static pthread_key_t key;
static char order[8];
static int ordered;

static void note(void *arg)
{
	order[ordered++] = *(char *)arg;
}

static void *clean_in_order(void *arg)
{
	static char a = 'a', b = 'b', c = 'c', d = 'd';

	NEEDS(pthread_setspecific(key, &d) == 0);
	pthread_cleanup_push(note, &a);
	pthread_cleanup_push(note, &b);
	pthread_cleanup_push(note, &c);
	set(&step, 1);
	NEEDS(sem_wait(arg) == 0);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void in_order(void)
{
	pthread_t t;

	NEEDS(pthread_key_create(&key, note) == 0);
	set(&step, 0);
	t = begin_thread(clean_in_order, &sem);
	NEEDS(becomes(&step, 1));
	NEEDS(pthread_cancel(t) == 0);
	expect_true("cancelled", end_thread(t) == PTHREAD_CANCELED);
	dprintf(1, "order of cleaning up: %s\n", order);
}

int main(void)
{
	say_begin();
	not_lost(PTHREAD_PROCESS_PRIVATE);
	not_lost(PTHREAD_PROCESS_SHARED);
	token_or_cancelled();
	no_points();
	asynchronous();
	in_order();
	expect_true("results of what had ended before", 2 * late_results < cancellations);
	return say_end();
}
