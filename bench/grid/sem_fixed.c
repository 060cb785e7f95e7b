/* SPDX-License-Identifier: MIT */
#include "sem_fixed.h"
#include "../common/clock.h"
#include "../common/raw_futex.h"
#include "../common/spin_hint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks between two readings of the clock, which costs as much as some of them. */
#define LOOKS 8

struct fixed_sem {
	uint32_t value;    /* tokens; the futex */
	uint32_t sleepers; /* threads that sleep or are about to */
	int64_t budget_ns;
};

_Static_assert(sizeof(struct fixed_sem) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static bool take(struct fixed_sem *s)
{
	uint32_t v = __atomic_load_n(&s->value, __ATOMIC_RELAXED);

	while (v)
		if (__atomic_compare_exchange_n(&s->value, &v, v - 1, false,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return true;
	return false;
}

static bool spin(struct fixed_sem *s)
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

/* One of the two sees the other: the post the sleeper, or the sleeper the token. */
static void wait_fixed(void *sem)
{
	struct fixed_sem *s = sem;

	if (take(s) || spin(s))
		return;
	__atomic_fetch_add(&s->sleepers, 1, __ATOMIC_SEQ_CST);
	while (!take(s))
		raw_futex_wait(&s->value, 0);
	__atomic_fetch_sub(&s->sleepers, 1, __ATOMIC_RELAXED);
}

static void post_fixed(void *sem)
{
	struct fixed_sem *s = sem;

	__atomic_fetch_add(&s->value, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleepers, __ATOMIC_SEQ_CST))
		raw_futex_wake_one(&s->value);
}

static void init(void *sem, int64_t budget_ns)
{
	*(struct fixed_sem *)sem = (struct fixed_sem){ .budget_ns = budget_ns };
}

static void init_1us(void *sem)
{
	init(sem, 1000);
}

static void init_5us(void *sem)
{
	init(sem, 5000);
}

static void init_20us(void *sem)
{
	init(sem, 20000);
}

static void init_50us(void *sem)
{
	init(sem, 50000);
}

static void init_200us(void *sem)
{
	init(sem, 200000);
}

static const struct sem_ops ops[] = {
	{ "fixed", init_1us, wait_fixed, post_fixed, NULL },
	{ "fixed", init_5us, wait_fixed, post_fixed, NULL },
	{ "fixed", init_20us, wait_fixed, post_fixed, NULL },
	{ "fixed", init_50us, wait_fixed, post_fixed, NULL },
	{ "fixed", init_200us, wait_fixed, post_fixed, NULL },
};

const struct sem_fixed sem_fixed[] = {
	{ "1us", { .name = "fixed", .ops = &ops[0] } },
	{ "5us", { .name = "fixed", .ops = &ops[1] } },
	{ "20us", { .name = "fixed", .ops = &ops[2] } },
	{ "50us", { .name = "fixed", .ops = &ops[3] } },
	{ "200us", { .name = "fixed", .ops = &ops[4] } },
	{ NULL, { .name = NULL } },
};
