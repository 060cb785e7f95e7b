/* SPDX-License-Identifier: MIT */
/*
 * Two threads hand a number back and forth: one gives it away, the other adds one and gives it
 * back, a hundred thousand times.
 *
 *	handoff          with libipcwait's semaphores
 *	handoff glibc    with the C library's
 *
 * Each time one of them waits for a moment. A thread that sleeps meanwhile has to be woken, which
 * costs both threads far more than the moment; one that looks again for as long is there at once.
 * libipcwait does what pays, glibc sleeps. sem_test beside it measures that with care.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <ipcwait/sem.h>

#define ROUNDS 100000

union turn {
	struct ipcwait_sem ours;
	sem_t glibc;
};

static bool use_glibc;
static union turn there, back;
static long number; /* belongs to whoever has the turn: nothing else guards it */

static int init(union turn *t)
{
	return use_glibc ? sem_init(&t->glibc, 0, 0)
			 : ipcwait_sem_init(&t->ours, 0, IPCWAIT_PRIVATE);
}

static void wait(union turn *t)
{
	if (use_glibc)
		while (sem_wait(&t->glibc))
			continue; /* a signal came in between */
	else
		ipcwait_sem_wait(&t->ours);
}

static void post(union turn *t)
{
	if (use_glibc)
		(void)sem_post(&t->glibc);
	else
		ipcwait_sem_post(&t->ours);
}

static void *partner(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		wait(&there);
		number++;
		post(&back);
	}
	return unused;
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double begin = seconds(CLOCK_MONOTONIC);
	pthread_t thread;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return puts("usage: handoff [glibc]") == EOF;
	use_glibc = argc == 2 && !strcmp(argv[1], "glibc");
	if (argc > 2 || (argc == 2 && !use_glibc))
		return fputs("usage: handoff [glibc]\n", stderr), 2;
	if (init(&there) || init(&back) || pthread_create(&thread, NULL, partner, NULL))
		return fputs("handoff: cannot begin\n", stderr), 1;
	for (int i = 0; i < ROUNDS; i++) {
		post(&there);
		wait(&back);
	}
	pthread_join(thread, NULL);
	printf("%s: %ld times there and back in %.3f seconds, for %.3f CPU-seconds\n",
	       use_glibc ? "glibc" : "libipcwait", number, seconds(CLOCK_MONOTONIC) - begin,
	       seconds(CLOCK_PROCESS_CPUTIME_ID));
	return number != ROUNDS;
}
