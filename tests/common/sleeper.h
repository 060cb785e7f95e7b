/* SPDX-License-Identifier: MIT */
/* A thread in one wait on a semaphore, and how to see that it sleeps. */
#ifndef TESTS_COMMON_SLEEPER_H
#define TESTS_COMMON_SLEEPER_H

#include <pthread.h>

#include <ipcwait/sem.h>

struct sleeper {
	struct ipcwait_sem *sem;
	int64_t deadline_ns;
	pthread_t thread;
	int result;
	int done; /* the wait has returned; read it with sleeper_done() */
};

/* The semaphore announces @n sleepers; fails the test if it does not within seconds. */
void sleeper_await(const struct ipcwait_sem *sem, unsigned n);

/* Begin a wait in a new thread. */
void sleeper_start(struct sleeper *sleeper, struct ipcwait_sem *sem, int64_t deadline_ns);

/* The wait has returned. */
int sleeper_done(const struct sleeper *sleeper);

/* Wait for the end of the wait. Returns its result. */
int sleeper_join(struct sleeper *sleeper);

/* Send signals to the thread until the wait has returned or @most were sent. */
void sleeper_disturb(struct sleeper *sleeper, int signal, int most);

#endif
