/* SPDX-License-Identifier: MIT */
/*
 * A count under nsync's mutex and condition variable. Its own nsync_counter is no semaphore: who
 * waits for it waits for zero, and nobody may add to it afterwards.
 */
#include "peer_ops.h"

#include <nsync.h>
#include <stddef.h>

struct counted {
	nsync_mu mu;
	nsync_cv some;
	unsigned long tokens;
};

_Static_assert(sizeof(struct counted) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static void init(void *sem)
{
	struct counted *s = sem;

	nsync_mu_init(&s->mu);
	nsync_cv_init(&s->some);
	s->tokens = 0;
}

static void wait(void *sem)
{
	struct counted *s = sem;

	nsync_mu_lock(&s->mu);
	while (!s->tokens)
		nsync_cv_wait(&s->some, &s->mu);
	s->tokens--;
	nsync_mu_unlock(&s->mu);
}

static void post(void *sem)
{
	struct counted *s = sem;

	nsync_mu_lock(&s->mu);
	s->tokens++;
	nsync_mu_unlock(&s->mu);
	nsync_cv_signal(&s->some);
}

const struct sem_ops sem_nsync = { "nsync", init, wait, post, NULL };
