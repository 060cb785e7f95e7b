/* SPDX-License-Identifier: MIT */
/*
 * The least that a channel between two threads can be: a place for one number and a word that says
 * whether it is full, on which the other sleeps. Nothing is looked at twice, and there is a call of
 * the kernel only for who sleeps: what this takes, no channel over threads that only sleeps can
 * save. "futex-yields" yields the CPU up to 20 times before it sleeps, which ours never do.
 */
#include "channel.h"
#include "../common/raw_futex.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define YIELDS 20

struct channel {
	_Alignas(128) uint32_t full; /* the futex: 0 or 1 */
	atomic_bool asleep[2];       /* until it is that */
	int yields;
	int64_t value;
};

static void *create_with(int yields)
{
	struct channel *c = aligned_alloc(_Alignof(struct channel), sizeof(*c));

	if (c)
		*c = (struct channel){ .yields = yields };
	return c;
}

static void *create(void)
{
	return create_with(0);
}

static void *create_yielding(void)
{
	return create_with(YIELDS);
}

static void await(struct channel *c, uint32_t full)
{
	int left = c->yields;

	while (__atomic_load_n(&c->full, __ATOMIC_ACQUIRE) != full) {
		if (left-- > 0) {
			sched_yield();
			continue;
		}
		atomic_store(&c->asleep[full], true);
		if (__atomic_load_n(&c->full, __ATOMIC_SEQ_CST) != full)
			raw_futex_wait(&c->full, !full);
		atomic_store(&c->asleep[full], false);
	}
}

static void set(struct channel *c, uint32_t full)
{
	__atomic_store_n(&c->full, full, __ATOMIC_SEQ_CST);
	if (atomic_load(&c->asleep[full]))
		raw_futex_wake_one(&c->full);
}

static void send(void *channel, int64_t value)
{
	struct channel *c = channel;

	await(c, 0);
	c->value = value;
	set(c, 1);
}

static int64_t receive(void *channel)
{
	struct channel *c = channel;
	int64_t value;

	await(c, 1);
	value = c->value;
	set(c, 0);
	return value;
}

const struct channel_ops channel_futex = {
	.name = "futex",
	.create = create,
	.send = send,
	.receive = receive,
	.destroy = free,
};

const struct channel_ops channel_futex_yields = {
	.name = "futex-yields",
	.create = create_yielding,
	.send = send,
	.receive = receive,
	.destroy = free,
};
