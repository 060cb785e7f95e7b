/* SPDX-License-Identifier: MIT */
/*
 * A count of tokens beside ck's event count, which is the pattern of its header: the poster
 * changes the count and increments the event, the waiter reads the event, looks for a token,
 * and waits for the event to change. Its spin (100 looks) and its sleeps that grow from 2 ms
 * to a second are its defaults. A wake wakes everybody, as the event count has no other.
 */
#include "peer_ops.h"
#include "../common/raw_futex.h"

#include <ck_ec.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct counted {
	struct ck_ec32 posted;
	uint32_t tokens;
};

_Static_assert(sizeof(struct counted) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static int get_time(const struct ck_ec_ops *ops, struct timespec *out)
{
	(void)ops;
	return clock_gettime(CLOCK_MONOTONIC, out);
}

static void sleep_on(const struct ck_ec_wait_state *state, const uint32_t *word,
		     uint32_t expected, const struct timespec *deadline)
{
	(void)state;
	raw_futex_wait_until(word, expected, deadline);
}

static void wake_all(const struct ck_ec_ops *ops, const uint32_t *word)
{
	(void)ops;
	raw_futex_wake_all(word);
}

static const struct ck_ec_ops system_ops = {
	.gettime = get_time,
	.wait32 = sleep_on,
	.wake32 = wake_all,
};
/* The cheaper mode for a single producer would not be a semaphore: anybody may post. */
static const struct ck_ec_mode mode = { .ops = &system_ops, .single_producer = false };

static void init(void *sem)
{
	struct counted *s = sem;

	ck_ec32_init(&s->posted, 0);
	s->tokens = 0;
}

static bool take(struct counted *s)
{
	uint32_t n = __atomic_load_n(&s->tokens, __ATOMIC_RELAXED);

	while (n)
		if (__atomic_compare_exchange_n(&s->tokens, &n, n - 1, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	return false;
}

static void wait(void *sem)
{
	struct counted *s = sem;
	uint32_t seen;

	for (;;) {
		seen = ck_ec32_value(&s->posted);
		if (take(s))
			return;
		ck_ec32_wait(&s->posted, &mode, seen, NULL);
	}
}

static void post(void *sem)
{
	struct counted *s = sem;

	__atomic_fetch_add(&s->tokens, 1, __ATOMIC_RELEASE);
	ck_ec32_inc(&s->posted, &mode);
}

const struct sem_ops sem_ck = { "ck", init, wait, post, NULL };
