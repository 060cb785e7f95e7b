/* SPDX-License-Identifier: MIT */
/* Threads with the least stack, handlers on a stack of their own, and such as leave by a jump. */
#include <limits.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "say.h"

/* Beside what the C library asks for itself: this program's own frames. */
#define LITTLE 4096

static sem_t sem, answer;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static uint32_t word;
static int told;

/* Sleeps in each kind of wait, with and without a deadline. Says nothing: that would take stack. */
static void *wait_for_each(void *arg)
{
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS), soon = in_ms(CLOCK_REALTIME, 2);
	struct timespec length = { 0, 1000000 };
	long wrong = 0;

	wrong += sem_wait(&sem) != 0;
	wrong += sem_timedwait(&sem, &soon) != -1;
	wrong += pthread_mutex_lock(&mutex) != 0;
	while (!told)
		wrong += pthread_cond_wait(&cond, &mutex) != 0;
	soon = in_ms(CLOCK_REALTIME, 2);
	wrong += pthread_cond_timedwait(&cond, &mutex, &soon) != ETIMEDOUT;
	soon = in_ms(CLOCK_MONOTONIC, 2);
	wrong += pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &soon) != ETIMEDOUT;
	wrong += pthread_mutex_unlock(&mutex) != 0;
	wrong += pthread_rwlock_timedwrlock(&rwlock, &at) != 0;
	wrong += pthread_rwlock_unlock(&rwlock) != 0;
	(void)pthread_barrier_wait(&barrier);
	wrong += syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &length, NULL, 0) != -1;
	wrong += sem_post(&answer) != 0;
	*(long *)arg = wrong;
	return NULL;
}

static void little(size_t more)
{
	pthread_attr_t attr;
	long wrong = -1;
	pthread_t t;

	NEEDS(sem_init(&sem, 0, 0) == 0 && sem_init(&answer, 0, 0) == 0);
	NEEDS(pthread_barrier_init(&barrier, NULL, 2) == 0);
	told = 0;
	NEEDS(pthread_attr_init(&attr) == 0);
	expect("stack size",
	       pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN + more), 0);
	NEEDS(pthread_rwlock_rdlock(&rwlock) == 0);
	expect("create", pthread_create(&t, &attr, wait_for_each, &wrong), 0);
	pass_ms(2);
	NEEDS(pthread_mutex_lock(&mutex) == 0 && sem_post(&sem) == 0);
	pass_ms(5);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	pass_ms(2);
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	told = 1;
	NEEDS(pthread_cond_signal(&cond) == 0 && pthread_mutex_unlock(&mutex) == 0);
	pass_ms(5);
	NEEDS(pthread_rwlock_unlock(&rwlock) == 0);
	(void)pthread_barrier_wait(&barrier);
	while (sem_wait(&answer) != 0)
		NEEDS(errno == EINTR);
	(void)end_thread(t);
	expect_number("wrong on a little stack", wrong, 0);
	NEEDS(pthread_barrier_destroy(&barrier) == 0);
}

/* Handlers that post, on a stack of their own, while their thread waits. */
static int handled;
static char *lowest;
static size_t size;
static int elsewhere;

static void on_signal(int signal)
{
	char here;

	(void)signal;
	if (&here < lowest || &here >= lowest + size)
		add(&elsewhere, 1);
	NEEDS(sem_post(&sem) == 0);
	add(&handled, 1);
}

#define SIGNALS 30

static void *wait_with_own_stack(void *arg)
{
	stack_t own = { .ss_sp = lowest, .ss_size = size };
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
	int k;

	NEEDS(sigaltstack(&own, NULL) == 0);
	for (k = 0; k < SIGNALS; k++) {
		int error;

		do
			error = k % 2 ? sem_wait(&sem) : sem_timedwait(&sem, &at);
		while (error == -1 && errno == EINTR);
		NEEDS(error == 0);
		NEEDS(sem_post(&answer) == 0);
	}
	own.ss_flags = SS_DISABLE;
	NEEDS(sigaltstack(&own, NULL) == 0);
	return arg;
}

static void own_stack(int flags)
{
	pthread_t t;
	int k;

	size = (size_t)sysconf(_SC_SIGSTKSZ);
	lowest = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	NEEDS(lowest != MAP_FAILED);
	handle(SIGUSR1, on_signal, SA_ONSTACK | flags);
	set(&handled, 0);
	t = begin_thread(wait_with_own_stack, NULL);
	/* Its stack is in place when the first token has come back. */
	NEEDS(sem_post(&sem) == 0);
	while (sem_wait(&answer) != 0)
		NEEDS(errno == EINTR);
	for (k = 1; k < SIGNALS; k++) {
		if (k % 3)
			pass_us(k * 50);
		NEEDS(pthread_kill(t, SIGUSR1) == 0);
		while (sem_wait(&answer) != 0)
			NEEDS(errno == EINTR);
	}
	(void)end_thread(t);
	expect_number("handled", handled, SIGNALS - 1);
	expect_number("handled on another stack", elsewhere, 0);
	NEEDS(munmap(lowest, size) == 0);
}

/* A handler that leaves the wait by siglongjmp(): a thing that programs do. */
static sigjmp_buf out;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static int begun;

static sem_t left;

static void *leave_by_jump(void *arg)
{
	if (sigsetjmp(out, 1) == 0) {
		set(&begun, 1);
		NEEDS(sem_wait(&left) == 0);
		return &left;
	}
	/* Everything works after it, the semaphore included. */
	NEEDS(sem_post(&left) == 0 && sem_wait(&left) == 0);
	NEEDS(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
	(void)arg;
	return NULL;
}

static void jumps(void)
{
	static const long after[] = { 1000, 5000, 20000 };
	int i;

	NEEDS(sem_init(&left, 0, 0) == 0);
	handle(SIGUSR2, jump, 0);
	for (i = 0; i < 3; i++) {
		pthread_t t;

		set(&begun, 0);
		t = begin_thread(leave_by_jump, NULL);
		NEEDS(becomes(&begun, 1));
		pass_us(after[i]);
		NEEDS(pthread_kill(t, SIGUSR2) == 0);
		expect_true("left by a jump", end_thread(t) == NULL);
	}
}

int main(void)
{
	say_begin();
	little(LITTLE);
	little(4 * LITTLE);
	own_stack(0);
	own_stack(SA_RESTART);
	jumps();
	return say_end();
}
