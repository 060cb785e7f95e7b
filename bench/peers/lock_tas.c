/* SPDX-License-Identifier: MIT */
/*
 * The simplest spin lock: exchange, and while somebody else has it, look. It never yields and
 * never sleeps, so that it shows what happens where a holder without a CPU is waited for.
 */
#include "peer_ops.h"
#include "../../tools/common/spin_hint.h"

#include <stddef.h>
#include <stdint.h>

static void init(void *lock)
{
	*(uint32_t *)lock = 0;
}

static void acquire(void *lock, struct lock_hold *hold)
{
	uint32_t *held = lock;

	(void)hold;
	while (__atomic_exchange_n(held, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(held, __ATOMIC_RELAXED))
			spin_hint();
}

static void release(void *lock, struct lock_hold *hold)
{
	(void)hold;
	__atomic_store_n((uint32_t *)lock, 0, __ATOMIC_RELEASE);
}

const struct lock_ops lock_tas = { "tas", init, acquire, release, NULL };
