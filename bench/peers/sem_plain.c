/* SPDX-License-Identifier: MIT */
/*
 * The two ends between which the library chooses: a semaphore that only spins, and one that
 * only sleeps. And the C library's, which sleeps at once too.
 */
#include "sem_peer.h"
#include "../common/complain.h"
#include "../common/raw_futex.h"
#include "../common/spin_hint.h"

#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

struct plain_sem {
	uint32_t value;    /* tokens; the futex */
	uint32_t sleepers; /* threads that sleep or are about to */
};

_Static_assert(sizeof(struct plain_sem) <= sizeof(struct sem_room) &&
		       sizeof(sem_t) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static void init(void *sem)
{
	struct plain_sem *s = sem;

	s->value = 0;
	s->sleepers = 0;
}

static bool take(struct plain_sem *s)
{
	uint32_t v = __atomic_load_n(&s->value, __ATOMIC_RELAXED);

	while (v)
		if (__atomic_compare_exchange_n(&s->value, &v, v - 1, false,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return true;
	return false;
}

static void wait_spinning(void *sem)
{
	while (!take(sem))
		spin_hint();
}

static void post_to_spinner(void *sem)
{
	struct plain_sem *s = sem;

	__atomic_fetch_add(&s->value, 1, __ATOMIC_RELEASE);
}

/*
 * Announcing the sleeper and looking at the value are in one order with the post's adding
 * to the value and looking for sleepers: one of the two sees the other.
 */
static void wait_sleeping(void *sem)
{
	struct plain_sem *s = sem;

	if (take(s))
		return;
	__atomic_fetch_add(&s->sleepers, 1, __ATOMIC_SEQ_CST);
	while (!take(s))
		raw_futex_wait(&s->value, 0);
	__atomic_fetch_sub(&s->sleepers, 1, __ATOMIC_RELAXED);
}

static void post_to_sleeper(void *sem)
{
	struct plain_sem *s = sem;

	__atomic_fetch_add(&s->value, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleepers, __ATOMIC_SEQ_CST))
		raw_futex_wake_one(&s->value);
}

static void glibc_init(void *sem)
{
	sem_init(sem, 0, 0);
}

static void glibc_end(void *sem)
{
	sem_destroy(sem);
}

static void glibc_wait(void *sem)
{
	while (sem_wait(sem))
		if (errno != EINTR)
			give_up("sem_wait() failed");
}

static void glibc_post(void *sem)
{
	sem_post(sem);
}

const struct sem_ops sem_spin = { "spin only", init, wait_spinning, post_to_spinner, NULL };
const struct sem_ops sem_block = { "block only", init, wait_sleeping, post_to_sleeper,
				   NULL };
const struct sem_ops sem_glibc = { "glibc", glibc_init, glibc_wait, glibc_post, glibc_end };
