/* SPDX-License-Identifier: MIT */
#include "peer_ops.h"
#include "../../tools/common/complain.h"

#include <pthread.h>

struct pair {
	pthread_mutex_t mutex;
	pthread_cond_t cond[2];
};

_Static_assert(sizeof(struct pair) <= sizeof(struct cond_room), "the room holds them");

static void init(void *room)
{
	struct pair *p = room;

	if (pthread_mutex_init(&p->mutex, NULL) || pthread_cond_init(&p->cond[0], NULL) ||
	    pthread_cond_init(&p->cond[1], NULL))
		give_up("cannot make a mutex and condition variables");
}

static void lock(void *room)
{
	struct pair *p = room;

	pthread_mutex_lock(&p->mutex);
}

static void unlock(void *room)
{
	struct pair *p = room;

	pthread_mutex_unlock(&p->mutex);
}

static void wait(void *room, int which)
{
	struct pair *p = room;

	pthread_cond_wait(&p->cond[which], &p->mutex);
}

static void signal_one(void *room, int which)
{
	struct pair *p = room;

	pthread_cond_signal(&p->cond[which]);
}

static void broadcast(void *room, int which)
{
	struct pair *p = room;

	pthread_cond_broadcast(&p->cond[which]);
}

static void end(void *room)
{
	struct pair *p = room;

	pthread_cond_destroy(&p->cond[0]);
	pthread_cond_destroy(&p->cond[1]);
	pthread_mutex_destroy(&p->mutex);
}

const struct cond_ops cond_glibc = { "glibc", init,       lock,      unlock,
				     wait,    signal_one, broadcast, end };
