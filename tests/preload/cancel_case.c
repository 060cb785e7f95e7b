/* SPDX-License-Identifier: MIT */
/* Cancellation: where it acts, where it does not, and in what order things are cleaned up. */
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>

#include "moments.h"
#include "say.h"

enum how {
	SEM_WAIT,
	SEM_TIMED,
	SEM_CLOCK,
	COND_WAIT,
	COND_TIMED,
	COND_CLOCK,
	CND_WAIT,
	CND_TIMED,
	SHARED_WAIT,
	SHARED_TIMED,
	HOWS
};

static const char *const names[HOWS] = {
	"sem_wait",          "sem_timedwait",          "sem_clockwait", "cond_wait",
	"cond_timedwait",    "cond_clockwait",         "cnd_wait",      "cnd_timedwait",
	"cond_wait, shared", "cond_timedwait, shared",
};

static sem_t sem;
static pthread_mutex_t mutex;
static pthread_cond_t cond, shared_cond;
static mtx_t mtx;
static cnd_t cnd;
static int begun, cleaned, cleaned_with_mutex, returned;

static bool takes_mutex(enum how how)
{
	return how >= COND_WAIT;
}

static int lock_for(enum how how)
{
	return how == CND_WAIT || how == CND_TIMED ? mtx_lock(&mtx)
						   : pthread_mutex_lock(&mutex);
}

static int unlock_for(enum how how)
{
	return how == CND_WAIT || how == CND_TIMED ? mtx_unlock(&mtx)
						   : pthread_mutex_unlock(&mutex);
}

/* An errorcheck mutex tells whether its owner asks. */
static void clean_up(void *arg)
{
	enum how how = *(enum how *)arg;

	add(&cleaned, 1);
	if (takes_mutex(how))
		add(&cleaned_with_mutex, unlock_for(how) == 0);
}

static void wait_once(enum how how)
{
	struct timespec real = in_ms(CLOCK_REALTIME, FAR_MS),
			mono = in_ms(CLOCK_MONOTONIC, FAR_MS);

	switch (how) {
	case SEM_WAIT:
		(void)sem_wait(&sem);
		break;
	case SEM_TIMED:
		(void)sem_timedwait(&sem, &real);
		break;
	case SEM_CLOCK:
		(void)sem_clockwait(&sem, CLOCK_MONOTONIC, &mono);
		break;
	case COND_WAIT:
		(void)pthread_cond_wait(&cond, &mutex);
		break;
	case COND_TIMED:
		(void)pthread_cond_timedwait(&cond, &mutex, &real);
		break;
	case COND_CLOCK:
		(void)pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &mono);
		break;
	case CND_WAIT:
		(void)cnd_wait(&cnd, &mtx);
		break;
	case CND_TIMED:
		(void)cnd_timedwait(&cnd, &mtx, &real);
		break;
	case SHARED_WAIT:
		(void)pthread_cond_wait(&shared_cond, &mutex);
		break;
	default:
		(void)pthread_cond_timedwait(&shared_cond, &mutex, &real);
	}
}

struct waiter {
	enum how how;
	int pending; /* cancelled before it waits */
};

static void *wait_for_ever(void *arg)
{
	struct waiter *w = arg;
	int old;

	NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
	pthread_cleanup_push(clean_up, &w->how);
	if (takes_mutex(w->how))
		NEEDS(lock_for(w->how) == 0);
	if (w->pending)
		NEEDS(pthread_cancel(pthread_self()) == 0);
	NEEDS(pthread_setcancelstate(old, NULL) == 0);
	set(&begun, 1);
	for (;;) {
		wait_once(w->how);
		add(&returned, 1);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

#define FIRST_ROUNDS 60
#define FIRST_LEAST  54

/* What the wait is for. */
static void give(enum how how)
{
	if (!takes_mutex(how))
		NEEDS(sem_post(&sem) == 0);
	else if (how == CND_WAIT || how == CND_TIMED)
		NEEDS(cnd_signal(&cnd) == thrd_success);
	else
		NEEDS(pthread_cond_signal(how < SHARED_WAIT ? &cond : &shared_cond) == 0);
}

/* No wait has returned, and the token is there. */
static bool was_left(enum how how)
{
	return get(&returned) == 0 && (takes_mutex(how) || sem_trywait(&sem) == 0);
}

static void make(void)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t shared;

	NEEDS(pthread_mutexattr_init(&attr) == 0);
	NEEDS(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK) == 0);
	NEEDS(pthread_mutex_init(&mutex, &attr) == 0);
	NEEDS(pthread_condattr_init(&shared) == 0);
	NEEDS(pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) == 0);
	NEEDS(pthread_cond_init(&shared_cond, &shared) == 0 &&
	      pthread_cond_init(&cond, NULL) == 0);
	NEEDS(mtx_init(&mtx, mtx_recursive) == thrd_success &&
	      cnd_init(&cnd) == thrd_success);
	NEEDS(sem_init(&sem, 0, 0) == 0);
}

/* Cancelled @us after the wait began, or before. Counts what is not as it should be. */
static int cancel_one(enum how how, long us, int pending)
{
	struct waiter w = { how, pending };
	pthread_t t;
	int wrong = 0;

	set(&begun, 0);
	set(&cleaned, 0);
	set(&cleaned_with_mutex, 0);
	t = begin_thread(wait_for_ever, &w);
	NEEDS(becomes(&begun, 1));
	if (us)
		pass_us(us);
	if (!pending)
		NEEDS(pthread_cancel(t) == 0);
	wrong += end_thread(t) != PTHREAD_CANCELED;
	wrong += cleaned != 1;
	wrong += cleaned_with_mutex != takes_mutex(how);
	if (takes_mutex(how)) {
		wrong += lock_for(how) != 0;
		wrong += unlock_for(how) != 0;
	}
	return wrong;
}

static void cancelled(void)
{
	static const long after[] = { 0, 0, 0, 5, 20, 50, 200, 2000, 20000 };
	char line[96];
	enum how how;
	unsigned i;

	for (how = SEM_WAIT; how < HOWS; how++) {
		int wrong = 0;

		for (i = 0; i < sizeof(after) / sizeof(after[0]); i++)
			wrong += cancel_one(how, after[i], 0);
		(void)snprintf(line, sizeof(line), "%s, cancelled, what is wrong",
			       names[how]);
		expect_number(line, wrong, 0);
		(void)snprintf(line, sizeof(line), "%s, cancelled before, what is wrong",
			       names[how]);
		expect_number(line, cancel_one(how, 0, 1), 0);
	}
}

/* A token that is there does not keep a pending cancellation from acting, and is not taken. */
static void *wait_with_token(void *arg)
{
	NEEDS(pthread_cancel(pthread_self()) == 0);
	wait_once(*(enum how *)arg);
	set(&returned, 1);
	return NULL;
}

static void pending_and_a_token(void)
{
	enum how how;
	int value;

	for (how = SEM_WAIT; how <= SEM_CLOCK; how++) {
		bool acts;

		set(&returned, 0);
		NEEDS(sem_post(&sem) == 0);
		acts = end_thread(begin_thread(wait_with_token, &how)) == PTHREAD_CANCELED;
		NEEDS(sem_getvalue(&sem, &value) == 0);
		dprintf(1, "%s, cancelled with a token there: ", names[how]);
		/* Here sem_clockwait() of the C library looks for the token first. */
		if (how == SEM_CLOCK)
			dprintf(1, "%s\n", acts ? "acts" : "takes the token");
		else
			expect_true("acts", acts);
		expect_number("tokens left, or calls returned", value + get(&returned), 1);
		while (sem_trywait(&sem) == 0)
			;
	}
}

/* Asked for while the thread waits, and before what it waits for comes: it acts. */
static void cancelled_first(void)
{
	char line[96];
	enum how how;
	int i;

	for (how = SEM_WAIT; how < HOWS; how++) {
		int acted = 0;

		for (i = 0; i < FIRST_ROUNDS; i++) {
			struct waiter w = { how, 0 };
			pthread_t t;

			set(&begun, 0);
			set(&returned, 0);
			t = begin_thread(wait_for_ever, &w);
			while (!get(&begun))
				continue;
			NEEDS(lock_for(how) == 0 && unlock_for(how) == 0);
			settle_briefly(t);
			NEEDS(pthread_cancel(t) == 0);
			give(how);
			/* A thread that took the first goes on to wait, and is cancelled then. */
			acted += end_thread(t) == PTHREAD_CANCELED && was_left(how);
		}
		(void)snprintf(line, sizeof(line), "%s, cancelled first", names[how]);
		/* A thread that was slow to wait may find what came first. */
		expect_least(line, acted, FIRST_LEAST);
	}
}

/* Wrong arguments are answered before a cancellation acts, or after: the C library decides. */
static void *wait_wrongly(void *arg)
{
	NEEDS(pthread_cancel(pthread_self()) == 0);
	switch (*(int *)arg) {
	case 0:
		return (void *)(intptr_t)error_of(sem_timedwait(&sem, &moments[5].at));
	case 1:
		return (void *)(intptr_t)error_of(sem_clockwait(&sem, 99, &moments[0].at));
	case 2:
		return (void *)(intptr_t)error_of(sem_timedwait(&sem, &moments[0].at));
	case 3:
		return (void *)(intptr_t)pthread_cond_wait(&cond, &mutex);
	case 4:
		return (void *)(intptr_t)pthread_cond_timedwait(&cond, &mutex,
								&moments[5].at);
	case 5:
		return (void *)(intptr_t)error_of(sem_trywait(&sem));
	case 6:
		return (void *)(intptr_t)error_of(sem_post(&sem));
	case 7:
		return (void *)(intptr_t)pthread_cond_signal(&cond);
	default:
		return (void *)(intptr_t)pthread_cond_broadcast(&cond);
	}
}

static void wrong_and_pending(void)
{
	static const char *const what[] = {
		"sem_timedwait, a wrong time",
		"sem_clockwait, a wrong clock",
		"sem_timedwait, over",
		"cond_wait, not owned",
		"cond_timedwait, wrong time",
		"sem_trywait",
		"sem_post",
		"cond_signal",
		"cond_broadcast",
	};
	int i;

	for (i = 0; i < 9; i++) {
		void *is = end_thread(begin_thread(wait_wrongly, &i));

		dprintf(1, "pending: ");
		if (is == PTHREAD_CANCELED)
			dprintf(1, "%s: cancelled\n", what[i]);
		else
			say(what[i], (int)(intptr_t)is);
	}
	while (sem_trywait(&sem) == 0)
		;
}

/* Disabled: waits end as ever, and the next cancellation point acts. */
static void *wait_disabled(void *arg)
{
	enum how how = *(enum how *)arg;
	int old;

	NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
	if (takes_mutex(how))
		NEEDS(lock_for(how) == 0);
	set(&begun, 1);
	while (takes_mutex(how) && !get(&returned))
		wait_once(how);
	if (takes_mutex(how))
		NEEDS(unlock_for(how) == 0);
	else
		wait_once(how);
	set(&returned, 2);
	NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old) == 0);
	pthread_testcancel();
	return NULL;
}

static void disabled(void)
{
	enum how how;

	for (how = SEM_WAIT; how < HOWS; how++) {
		pthread_t t;

		set(&begun, 0);
		set(&returned, 0);
		t = begin_thread(wait_disabled, &how);
		NEEDS(becomes(&begun, 1));
		NEEDS(pthread_cancel(t) == 0);
		pass_ms(3);
		NEEDS(lock_for(how) == 0);
		expect_number("a wait that may not be cancelled goes on", get(&returned),
			      0);
		set(&returned, 1);
		NEEDS(unlock_for(how) == 0);
		NEEDS(sem_post(&sem) == 0 && cnd_broadcast(&cnd) == thrd_success);
		NEEDS(pthread_cond_broadcast(&cond) == 0 &&
		      pthread_cond_broadcast(&shared_cond) == 0);
		expect_true(names[how], end_thread(t) == PTHREAD_CANCELED);
		expect_number("it had returned", get(&returned), 2);
		while (sem_trywait(&sem) == 0)
			;
	}
}

int main(void)
{
	say_begin();
	make();
	cancelled();
	pending_and_a_token();
	cancelled_first();
	wrong_and_pending();
	disabled();
	return say_end();
}
