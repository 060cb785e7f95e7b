/* SPDX-License-Identifier: MIT */
/*
 * A program whose waits all sleep, for test_agree.py: seen_asleep ROUNDS [pause]
 *
 * A thread waits ROUNDS times for a semaphore, then as often for a condition variable and for a
 * mutex. The main thread ends each wait when the kernel says that the thread sleeps. So there
 * are ROUNDS sleeps of each kind, however fast either thread is. With "pause" the program first
 * sleeps once, so that it has its statistics page. Then it says that it pauses, and begins when a
 * byte or the end of the standard input comes.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t sem;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static int sleeper; /* the kernel's number of the thread */
static long begun;  /* waits that it is about to begin */
static long ended;  /* times that the thread has left the mutex for the main thread */
static long held;   /* times that the main thread has locked it for the thread to wait */

static long get(const long *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void add(long *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
}

/* It yields: a thread that sleeps here would be taken for a waiter. */
static void await(const long *word, long value)
{
	while (get(word) != value)
		(void)sched_yield();
}

static void check(bool done)
{
	if (!done)
		abort();
}

static void *wait_for_all(void *arg)
{
	__atomic_store_n(&sleeper, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	for (long i = 0; i < rounds; i++) {
		add(&begun);
		check(sem_wait(&sem) == 0);
	}
	check(pthread_mutex_lock(&mutex) == 0);
	for (long i = 0; i < rounds; i++) {
		add(&begun);
		check(pthread_cond_wait(&cond, &mutex) == 0);
	}
	check(pthread_mutex_unlock(&mutex) == 0);
	add(&ended);
	for (long i = 0; i < rounds; i++) {
		await(&held, i + 1);
		add(&begun);
		check(pthread_mutex_lock(&mutex) == 0);
		check(pthread_mutex_unlock(&mutex) == 0);
		add(&ended);
	}
	return arg;
}

static bool is_asleep(void)
{
	char path[64], text[256], *state = NULL;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
		       __atomic_load_n(&sleeper, __ATOMIC_SEQ_CST));
	f = fopen(path, "re");
	check(f != NULL);
	if (fgets(text, sizeof(text), f))
		state = strrchr(text, ')');
	(void)fclose(f);
	return state && state[2] == 'S';
}

static void await_sleep(long wait)
{
	await(&begun, wait);
	while (!is_asleep())
		(void)sched_yield();
}

static void end_all(void)
{
	for (long i = 0; i < rounds; i++) {
		await_sleep(i + 1);
		check(sem_post(&sem) == 0);
	}
	/* Signalled without the mutex: the waiter finds it free. */
	for (long i = 0; i < rounds; i++) {
		await_sleep(rounds + i + 1);
		check(pthread_cond_signal(&cond) == 0);
	}
	/* Its last wait for the condition variable locks the mutex too. */
	await(&ended, 1);
	for (long i = 0; i < rounds; i++) {
		check(pthread_mutex_lock(&mutex) == 0);
		add(&held);
		await_sleep(2 * rounds + i + 1);
		check(pthread_mutex_unlock(&mutex) == 0);
		await(&ended, i + 2);
	}
}

static void *end_first(void *arg)
{
	while (!is_asleep())
		(void)sched_yield();
	check(sem_post(&sem) == 0);
	return arg;
}

static void sleep_once(void)
{
	pthread_t t;

	sleeper = (int)syscall(SYS_gettid);
	check(pthread_create(&t, NULL, end_first, NULL) == 0);
	check(sem_wait(&sem) == 0);
	check(pthread_join(t, NULL) == 0);
}

int main(int argc, char **argv)
{
	pthread_t t;
	char byte;

	if (argc < 2)
		return EXIT_FAILURE;
	rounds = strtol(argv[1], NULL, 10);
	check(sem_init(&sem, 0, 0) == 0);
	if (argc > 2) {
		sleep_once();
		dprintf(STDOUT_FILENO, "paused %ld\n", (long)getpid());
		while (read(STDIN_FILENO, &byte, 1) < 0)
			;
	}
	check(pthread_create(&t, NULL, wait_for_all, NULL) == 0);
	end_all();
	check(pthread_join(t, NULL) == 0);
	return EXIT_SUCCESS;
}
