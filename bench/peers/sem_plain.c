/* SPDX-License-Identifier: MIT */
#include "sem_plain.h"
#include "sem_peer.h"
#include "../common/clock.h"
#include "../common/raw_futex.h"
#include "../../tools/common/spin_hint.h"

#include <stdbool.h>
#include <stddef.h>

/* Looks between two readings of the clock, which costs as much as some of them. */
#define LOOKS 8

struct plain_sem {
	uint32_t value;    /* tokens; the futex */
	uint32_t sleepers; /* threads that sleep or are about to */
	int64_t budget_ns;
	bool shared; /* between processes */
};

_Static_assert(sizeof(struct plain_sem) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

void sem_plain_init(void *sem, int64_t budget_ns)
{
	*(struct plain_sem *)sem = (struct plain_sem){ .budget_ns = budget_ns };
}

void sem_plain_init_shared(void *sem, int64_t budget_ns)
{
	*(struct plain_sem *)sem =
		(struct plain_sem){ .budget_ns = budget_ns, .shared = true };
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

static void spin_for_good(struct plain_sem *s)
{
	while (!take(s))
		spin_hint();
}

static bool spin(struct plain_sem *s)
{
	int64_t end = clock_now_ns() + s->budget_ns;

	do {
		for (unsigned i = 0; i < LOOKS; i++) {
			if (take(s))
				return true;
			spin_hint();
		}
	} while (clock_now_ns() < end);
	return false;
}

static void sleep_on(struct plain_sem *s)
{
	if (s->shared)
		raw_futex_wait_shared(&s->value, 0);
	else
		raw_futex_wait(&s->value, 0);
}

static void wake(struct plain_sem *s)
{
	if (s->shared)
		raw_futex_wake_one_shared(&s->value);
	else
		raw_futex_wake_one(&s->value);
}

/*
 * Announcing the sleeper and looking at the value are in one order with the post's adding
 * to the value and looking for sleepers: one of the two sees the other.
 */
static void sleep_for_token(struct plain_sem *s)
{
	__atomic_fetch_add(&s->sleepers, 1, __ATOMIC_SEQ_CST);
	while (!take(s))
		sleep_on(s);
	__atomic_fetch_sub(&s->sleepers, 1, __ATOMIC_RELAXED);
}

void sem_plain_wait(void *sem)
{
	struct plain_sem *s = sem;

	if (take(s))
		return;
	if (s->budget_ns == SEM_PLAIN_SPIN)
		spin_for_good(s);
	else if (s->budget_ns == SEM_PLAIN_BLOCK || !spin(s))
		sleep_for_token(s);
}

void sem_plain_post(void *sem)
{
	struct plain_sem *s = sem;

	__atomic_fetch_add(&s->value, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleepers, __ATOMIC_SEQ_CST))
		wake(s);
}

/* Who only spins has no use for the look: the line may be on its way to the waiter already. */
static void post_to_spinner(void *sem)
{
	struct plain_sem *s = sem;

	__atomic_fetch_add(&s->value, 1, __ATOMIC_RELEASE);
}

static void init_spin(void *sem)
{
	sem_plain_init(sem, SEM_PLAIN_SPIN);
}

static void init_block(void *sem)
{
	sem_plain_init(sem, SEM_PLAIN_BLOCK);
}

static void init_50us(void *sem)
{
	sem_plain_init(sem, INT64_C(50) * 1000);
}

static void init_50us_shared(void *sem)
{
	sem_plain_init_shared(sem, INT64_C(50) * 1000);
}

const struct sem_ops sem_spin = { "spin only", init_spin, sem_plain_wait, post_to_spinner,
				  NULL };
const struct sem_ops sem_block = { "block only", init_block, sem_plain_wait, sem_plain_post,
				   NULL };
const struct sem_ops sem_50us = { "spin 50 us", init_50us, sem_plain_wait, sem_plain_post,
				  NULL };
const struct sem_ops sem_50us_shared = { "spin 50 us", init_50us_shared, sem_plain_wait,
					 sem_plain_post, NULL };
