/* SPDX-License-Identifier: MIT */
/* A count under a pthread mutex and condition variable, as programs have it that need more. */
#include "peer_ops.h"
#include "../../tools/common/complain.h"

#include <pthread.h>

struct counted {
	pthread_mutex_t mutex;
	pthread_cond_t some;
	unsigned long tokens;
};

_Static_assert(sizeof(struct counted) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static void init(void *sem)
{
	struct counted *s = sem;

	if (pthread_mutex_init(&s->mutex, NULL) || pthread_cond_init(&s->some, NULL))
		give_up("cannot make a mutex and a condition variable");
	s->tokens = 0;
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
