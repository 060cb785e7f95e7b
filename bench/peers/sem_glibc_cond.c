/* SPDX-License-Identifier: MIT */
/* A count under a pthread mutex and condition variable, as programs have it that need more. */
#include "sem_peer.h"
#include "../../tools/common/complain.h"

#include <pthread.h>

struct counted {
	pthread_mutex_t mutex;
	pthread_cond_t some;
	unsigned long tokens;
};

_Static_assert(sizeof(struct counted) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static void init_with(struct counted *s, int shared)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	if (pthread_mutexattr_init(&mutex) || pthread_condattr_init(&cond) ||
	    pthread_mutexattr_setpshared(&mutex, shared) ||
	    pthread_condattr_setpshared(&cond, shared) ||
	    pthread_mutex_init(&s->mutex, &mutex) || pthread_cond_init(&s->some, &cond))
		give_up("cannot make a mutex and a condition variable");
	pthread_mutexattr_destroy(&mutex);
	pthread_condattr_destroy(&cond);
	s->tokens = 0;
}

static void init(void *sem)
{
	init_with(sem, PTHREAD_PROCESS_PRIVATE);
}

static void init_shared(void *sem)
{
	init_with(sem, PTHREAD_PROCESS_SHARED);
}

static void wait(void *sem)
{
	struct counted *s = sem;

	pthread_mutex_lock(&s->mutex);
	while (!s->tokens)
		pthread_cond_wait(&s->some, &s->mutex);
	s->tokens--;
	pthread_mutex_unlock(&s->mutex);
}

/* The signal follows the unlock: the woken thread would run into the mutex otherwise. */
static void post(void *sem)
{
	struct counted *s = sem;

	pthread_mutex_lock(&s->mutex);
	s->tokens++;
	pthread_mutex_unlock(&s->mutex);
	pthread_cond_signal(&s->some);
}

static void end(void *sem)
{
	struct counted *s = sem;

	pthread_cond_destroy(&s->some);
	pthread_mutex_destroy(&s->mutex);
}

const struct sem_ops sem_glibc_cond = { "glibc-cond", init, wait, post, end };
const struct sem_ops sem_glibc_cond_shared = { "glibc-cond", init_shared, wait, post, end };
