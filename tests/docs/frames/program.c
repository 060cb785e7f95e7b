/* SPDX-License-Identifier: MIT */
/* The documents' `program`: two threads hand over with libc's semaphores; --long: for a minute. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static sem_t asked, answered;
static int ends;

static void *server(void *arg)
{
	for (;;) {
		sem_wait(&asked);
		if (ends)
			return arg;
		sem_post(&answered);
	}
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 && !strcmp(argv[1], "--long") ? 60 : 0;
	time_t end = time(NULL) + seconds;
	pthread_t t;

	puts("begun");
	fflush(stdout);
	pthread_create(&t, NULL, server, NULL);
	for (int i = 0; i < 5000 || time(NULL) < end; i++) {
		sem_post(&asked);
		sem_wait(&answered);
	}
	ends = 1;
	sem_post(&asked);
	pthread_join(t, NULL);
	puts("done");
	return 0;
}
