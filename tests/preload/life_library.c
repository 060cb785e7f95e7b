/* SPDX-License-Identifier: MIT */
/* A library that uses locks in its constructor and destructor; loaded at run time. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "life_case.h"

extern struct life_library life_library;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem, outside;
static int told;

static void *answer(void *arg)
{
	if (sem_wait(&sem) != 0)
		return arg;
	(void)pthread_mutex_lock(&mutex);
	told = 1;
	(void)pthread_cond_signal(&cond);
	(void)pthread_mutex_unlock(&mutex);
	return NULL;
}

static int use(void)
{
	struct timespec at;
	pthread_t t;
	int error;

	told = 0;
	error = sem_init(&sem, 0, 0) ? errno : pthread_create(&t, NULL, answer, &sem);
	if (error)
		return error;
	(void)clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += 20;
	(void)sem_post(&sem);
	(void)pthread_mutex_lock(&mutex);
	while (!told && !error)
		error = pthread_cond_timedwait(&cond, &mutex, &at);
	(void)pthread_mutex_unlock(&mutex);
	if (pthread_join(t, NULL) || pthread_rwlock_wrlock(&rwlock) ||
	    pthread_rwlock_unlock(&rwlock))
		return EINVAL;
	return error;
}

static int wait_outside(void)
{
	return sem_wait(&outside) ? errno : 0;
}

static int post_outside(void)
{
	return sem_post(&outside) ? errno : 0;
}

struct life_library life_library = { -1, use, wait_outside, post_outside };

__attribute__((constructor)) static void construct(void)
{
	(void)sem_init(&outside, 0, 0);
	life_library.constructed = use();
}

__attribute__((destructor)) static void destruct(void)
{
	static const char good[] = "destructor of the library: ok\n";
	static const char bad[] = "destructor of the library: NO\n";

	(void)!write(STDOUT_FILENO, use() ? bad : good, sizeof(good) - 1);
}
