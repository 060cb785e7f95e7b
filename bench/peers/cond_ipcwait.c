/* SPDX-License-Identifier: MIT */
#include "peer_ops.h"
#include "../../tools/common/complain.h"

#include <ipcwait/cond.h>
#include <stddef.h>

struct pair {
	struct ipcwait_mutex mutex;
	_Alignas(64) struct ipcwait_cond cond[2];
};

_Static_assert(sizeof(struct pair) <= sizeof(struct cond_room), "the room holds them");

static void init(void *room)
{
	struct pair *p = room;

	if (ipcwait_mutex_init(&p->mutex, IPCWAIT_PRIVATE) ||
	    ipcwait_cond_init(&p->cond[0], IPCWAIT_PRIVATE) ||
	    ipcwait_cond_init(&p->cond[1], IPCWAIT_PRIVATE))
		give_up("cannot make a mutex and condition variables");
}

static void lock(void *room)
{
	struct pair *p = room;

	if (ipcwait_mutex_lock(&p->mutex))
		give_up("cannot lock");
}

static void unlock(void *room)
{
	struct pair *p = room;

	ipcwait_mutex_unlock(&p->mutex);
}

static void wait(void *room, int which)
{
	struct pair *p = room;

	if (ipcwait_cond_wait(&p->cond[which], &p->mutex))
		give_up("cannot wait for a condition");
}

static void signal_one(void *room, int which)
{
	struct pair *p = room;

	ipcwait_cond_signal(&p->cond[which]);
}

static void broadcast(void *room, int which)
{
	struct pair *p = room;

	ipcwait_cond_broadcast(&p->cond[which]);
}

static void end(void *room)
{
	struct pair *p = room;

	if (ipcwait_cond_fini(&p->cond[0]) || ipcwait_cond_fini(&p->cond[1]) ||
	    ipcwait_mutex_fini(&p->mutex))
		give_up("cannot end the condition variables");
}

const struct cond_ops cond_ipcwait = { "ipcwait", init,       lock,      unlock,
				       wait,      signal_one, broadcast, end };
