/* SPDX-License-Identifier: MIT */
#include "peer_ops.h"

#include <nsync.h>
#include <stddef.h>

struct pair {
	nsync_mu mu;
	nsync_cv cv[2];
};

_Static_assert(sizeof(struct pair) <= sizeof(struct cond_room), "the room holds them");

static void init(void *room)
{
	struct pair *p = room;

	nsync_mu_init(&p->mu);
	nsync_cv_init(&p->cv[0]);
	nsync_cv_init(&p->cv[1]);
}

static void lock(void *room)
{
	struct pair *p = room;

	nsync_mu_lock(&p->mu);
}

static void unlock(void *room)
{
	struct pair *p = room;

	nsync_mu_unlock(&p->mu);
}

static void wait(void *room, int which)
{
	struct pair *p = room;

	nsync_cv_wait(&p->cv[which], &p->mu);
}

static void signal_one(void *room, int which)
{
	struct pair *p = room;

	nsync_cv_signal(&p->cv[which]);
}

static void broadcast(void *room, int which)
{
	struct pair *p = room;

	nsync_cv_broadcast(&p->cv[which]);
}

const struct cond_ops cond_nsync = { "nsync", init,       lock,      unlock,
				     wait,    signal_one, broadcast, NULL };
