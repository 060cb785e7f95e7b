/* SPDX-License-Identifier: MIT */
/* Semaphores and signals: who is interrupted, when, and who is not. */
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>

#include "moments.h"
#include "say.h"

enum how { PLAIN, TIMED, CLOCKED };

static sem_t sem;
static int handled, ready, left;
static sem_t *posted_by_handler;

static void on_signal(int signal)
{
	(void)signal;
	if (posted_by_handler)
		NEEDS(sem_post(posted_by_handler) == 0);
	add(&handled, 1);
}

static int wait_for_it(enum how how)
{
	struct timespec at = in_ms(how == TIMED ? CLOCK_REALTIME : CLOCK_MONOTONIC, FAR_MS);

	switch (how) {
	case PLAIN:
		return error_of(sem_wait(&sem));
	case TIMED:
		return error_of(sem_timedwait(&sem, &at));
	default:
		return error_of(sem_clockwait(&sem, CLOCK_MONOTONIC, &at));
	}
}

struct waiter {
	enum how how;
	int done;
	int error;
};

static void *waiter(void *arg)
{
	struct waiter *w = arg;

	set(&ready, 1);
	w->error = wait_for_it(w->how);
	set(&w->done, 1);
	return NULL;
}

/*
 * A signal @us after the wait began. The wait ends by it, or goes on and ends with a token: the
 * handler may have run before the thread was in the call. Returns what the wait answered;
 * what it did not take is counted and taken away.
 */
static int interrupt(enum how how, long us)
{
	struct waiter w = { .how = how };
	pthread_t t;

	set(&handled, 0);
	set(&ready, 0);
	t = begin_thread(waiter, &w);
	NEEDS(becomes(&ready, 1));
	if (us)
		pass_us(us);
	NEEDS(pthread_kill(t, SIGUSR1) == 0);
	NEEDS(becomes(&handled, 1));
	settle(t, &w.done);
	if (!get(&w.done))
		NEEDS(sem_post(&sem) == 0);
	(void)end_thread(t);
	for (left = 0; sem_trywait(&sem) == 0; left++)
		;
	return w.error;
}

static const char *const how_names[] = { "wait", "timedwait", "clockwait" };
static const long late[] = { 1000, 2000, 5000, 10000, 20000, 50000 };

#define LATE       6
#define TRIES_MOST 100

/* A signal that finds the thread in the call ends it. Until LATE / 2 have, others are sent. */
static void interrupted(int flags)
{
	enum how how;

	handle(SIGUSR1, on_signal, flags);
	for (how = PLAIN; how <= CLOCKED; how++) {
		bool restarts = how == PLAIN && (flags & SA_RESTART);
		char line[96];
		int i, ended = 0, other = 0;

		for (i = 0; i < LATE || (!restarts && ended < LATE / 2 && i < TRIES_MOST);
		     i++) {
			int error = interrupt(how, late[i % LATE]);

			ended += error == EINTR;
			other += error != EINTR && error != 0;
		}
		(void)snprintf(line, sizeof(line), "%s, %s: %s", how_names[how],
			       flags & SA_RESTART ? "SA_RESTART" : "no SA_RESTART",
			       restarts ? "goes on" : "interrupted");
		if (restarts)
			expect_number(line, ended, 0);
		else
			expect_least(line, ended, LATE / 2);
		(void)snprintf(line, sizeof(line), "%s, neither EINTR nor a token",
			       how_names[how]);
		expect_number(line, other, 0);
	}
}

/* So early that the handler may run anywhere in the call and before it: both outcomes are legal. */
static void interrupted_early(void)
{
	static const long early[] = { 0, 20, 200 };
	int i, k, other = 0, lost = 0;
	enum how how;

	handle(SIGUSR1, on_signal, 0);
	for (how = PLAIN; how <= CLOCKED; how++) {
		for (k = 0; k < 3; k++) {
			for (i = 0; i < 4; i++) {
				int error = interrupt(how, early[k]);

				other += error != EINTR && error != 0;
				lost += left != 0 && error == 0;
			}
		}
	}
	expect_number("early signals, neither EINTR nor a token", other, 0);
	expect_number("early signals, a token for none", lost, 0);
}

/* A handler may run in a call that has its token at once: it is no failure of the call. */
static void not_interrupted(void)
{
	sigset_t blocked, before;
	sem_t s;

	handle(SIGUSR1, on_signal, 0);
	NEEDS(sigemptyset(&blocked) == 0 && sigaddset(&blocked, SIGUSR1) == 0);
	NEEDS(sem_init(&s, 0, 1) == 0);
	NEEDS(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
	set(&handled, 0);
	NEEDS(raise(SIGUSR1) == 0);
	expect("a blocked signal, a token", error_of(sem_wait(&s)), 0);
	expect("a blocked signal, a deadline that is over",
	       error_of(sem_timedwait(&s, &moments[0].at)), ETIMEDOUT);
	expect_number("the blocked signal was not handled", get(&handled), 0);
	NEEDS(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	expect_number("it was when unblocked", get(&handled), 1);
}

/* An ignored one ends nothing. */
static void ignored(void)
{
	struct waiter w = { .how = PLAIN };
	pthread_t t;

	handle(SIGUSR2, SIG_IGN, 0);
	set(&ready, 0);
	t = begin_thread(waiter, &w);
	NEEDS(becomes(&ready, 1));
	settle(t, NULL);
	NEEDS(pthread_kill(t, SIGUSR2) == 0);
	pass_ms(5);
	expect_number("an ignored signal ends nothing", get(&w.done), 0);
	NEEDS(sem_post(&sem) == 0);
	(void)end_thread(t);
	expect("wait after an ignored signal", w.error, 0);
}

/* The handler posts what its own thread waits for, or what another does. */
static void posted(int flags)
{
	enum how how;

	handle(SIGUSR1, on_signal, flags);
	posted_by_handler = &sem;
	for (how = PLAIN; how <= CLOCKED; how++) {
		int i, ended = 0, lost = 0;
		char line[96];

		for (i = 0; i < LATE; i++) {
			int error = interrupt(how, late[i] / 10);

			ended += error == 0 || error == EINTR;
			/* The handler's own, and one more where the wait had not ended in time. */
			lost += error == EINTR && left < 1;
		}
		(void)snprintf(line, sizeof(line), "%s, the handler posts, flags %s",
			       how_names[how], flags ? "SA_RESTART" : "none");
		expect_number(line, ended, LATE);
		expect_number("tokens lost", lost, 0);
	}
	posted_by_handler = NULL;
}

/* A process that is stopped and goes on: its untimed wait goes on too. */
static void stopped(void *arg)
{
	sem_t *shared = arg;

	NEEDS(sem_post(shared) == 0);
	expect("wait of a process that was stopped", error_of(sem_wait(shared + 1)), 0);
}

static void stops(void)
{
	sem_t *shared = shared_memory(2 * sizeof(*shared));
	pid_t child;

	NEEDS(sem_init(shared, 1, 0) == 0 && sem_init(shared + 1, 1, 0) == 0);
	child = begin_child(stopped, shared);
	NEEDS(sem_wait(shared) == 0);
	pass_ms(2);
	NEEDS(kill(child, SIGSTOP) == 0);
	pass_ms(2);
	NEEDS(kill(child, SIGCONT) == 0);
	pass_ms(10);
	NEEDS(sem_post(shared + 1) == 0);
	expect_child("the stopped process", child, 0);
}

int main(void)
{
	say_begin();
	NEEDS(sem_init(&sem, 0, 0) == 0);
	interrupted(0);
	interrupted(SA_RESTART);
	interrupted_early();
	not_interrupted();
	ignored();
	posted(0);
	posted(SA_RESTART);
	stops();
	return say_end();
}
