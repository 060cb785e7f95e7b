/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PRELOAD_NAMES_CASE_H
#define TESTS_PRELOAD_NAMES_CASE_H

#include <pthread.h>
#include <semaphore.h>

/* How somebody calls the functions, whatever they are in the end. */
struct names {
	const char *name;
	int (*lock)(pthread_mutex_t *mutex);
	int (*unlock)(pthread_mutex_t *mutex);
	int (*timedwait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
			 const struct timespec *at);
	int (*signal)(pthread_cond_t *cond);
	int (*sem_wait)(sem_t *sem);
	int (*sem_post)(sem_t *sem);
};

struct names_object {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sem_t sem;
	int waiting, told;
};

#endif
