/* SPDX-License-Identifier: MIT */
/* A count under libipcwait's mutex and condition variable, both ADAPTIVE. */
#include "sem_peer.h"
#include "../../tools/common/complain.h"

#include <ipcwait/cond.h>
#include <stddef.h>

struct counted {
	struct ipcwait_mutex mutex;
	struct ipcwait_cond some;
	unsigned long tokens;
};

_Static_assert(sizeof(struct counted) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static void init_with(struct counted *s, uint32_t flags)
{
	if (ipcwait_mutex_init(&s->mutex, flags) || ipcwait_cond_init(&s->some, flags) ||
	    ipcwait_window_set_preset(&s->mutex.window, IPCWAIT_ADAPTIVE) ||
	    ipcwait_window_set_preset(&s->some.window, IPCWAIT_ADAPTIVE))
		give_up("cannot make a mutex and a condition variable");
	s->tokens = 0;
}

static void init(void *sem)
{
	init_with(sem, IPCWAIT_PRIVATE);
}

static void init_shared(void *sem)
{
	init_with(sem, 0);
}

static void lock(struct counted *s)
{
	int r = ipcwait_mutex_lock(&s->mutex);

	if (r)
		give_up("ipcwait_mutex_lock() returned %d", r);
}

static void wait(void *sem)
{
	struct counted *s = sem;

	lock(s);
	while (!s->tokens) {
		int r = ipcwait_cond_wait(&s->some, &s->mutex);

		if (r)
			give_up("ipcwait_cond_wait() returned %d", r);
	}
	s->tokens--;
	ipcwait_mutex_unlock(&s->mutex);
}

/* The signal follows the unlock, as in sem_glibc_cond.c. */
static void post(void *sem)
{
	struct counted *s = sem;

	lock(s);
	s->tokens++;
	ipcwait_mutex_unlock(&s->mutex);
	ipcwait_cond_signal(&s->some);
}

const struct sem_ops sem_ipcwait_cond = { "ADAPTIVE", init, wait, post, NULL };
const struct sem_ops sem_ipcwait_cond_shared = { "ADAPTIVE", init_shared, wait, post,
						 NULL };
