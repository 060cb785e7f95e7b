/* SPDX-License-Identifier: MIT */
#include "sem_peer.h"
#include "../../tools/common/complain.h"

#include <ipcwait/sem.h>
#include <stddef.h>

_Static_assert(sizeof(struct ipcwait_sem) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static void init_with(struct ipcwait_sem *s, enum ipcwait_preset preset, uint32_t flags)
{
	if (ipcwait_sem_init(s, 0, flags) || ipcwait_window_set_preset(&s->window, preset))
		give_up("cannot make a semaphore");
}

static void init(struct ipcwait_sem *s, enum ipcwait_preset preset)
{
	init_with(s, preset, IPCWAIT_PRIVATE);
}

static void init_adaptive_shared(void *sem)
{
	init_with(sem, IPCWAIT_ADAPTIVE, 0);
}

static void init_adaptive(void *sem)
{
	init(sem, IPCWAIT_ADAPTIVE);
}

static void init_latency(void *sem)
{
	init(sem, IPCWAIT_LATENCY);
}

static void init_power(void *sem)
{
	init(sem, IPCWAIT_POWER);
}

static void init_spin(void *sem)
{
	init(sem, IPCWAIT_SPIN);
}

static void init_block(void *sem)
{
	init(sem, IPCWAIT_BLOCK);
}

static void init_haltpoll(void *sem)
{
	init(sem, IPCWAIT_HALTPOLL);
}

static void init_ticks(void *sem)
{
	init(sem, IPCWAIT_TICKS);
}

static void wait(void *sem)
{
	int r = ipcwait_sem_wait(sem);

	if (r)
		give_up("ipcwait_sem_wait() returned %d", r);
}

static void post(void *sem)
{
	int r = ipcwait_sem_post(sem);

	if (r)
		give_up("ipcwait_sem_post() returned %d", r);
}

const struct sem_ops sem_adaptive = { "ADAPTIVE", init_adaptive, wait, post, NULL };
const struct sem_ops sem_latency = { "LATENCY", init_latency, wait, post, NULL };
const struct sem_ops sem_preset_power = { "POWER", init_power, wait, post, NULL };
const struct sem_ops sem_preset_spin = { "SPIN", init_spin, wait, post, NULL };
const struct sem_ops sem_preset_block = { "BLOCK", init_block, wait, post, NULL };
const struct sem_ops sem_preset_haltpoll = { "HALTPOLL", init_haltpoll, wait, post, NULL };
const struct sem_ops sem_preset_ticks = { "TICKS", init_ticks, wait, post, NULL };
const struct sem_ops sem_adaptive_shared = { "ADAPTIVE", init_adaptive_shared, wait, post,
					     NULL };
