/* SPDX-License-Identifier: MIT */
#include "raw_futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Each thread counts in a slot that it shares with few others: one counter for all would be
 * a cache line that they take from each other, next to the calls that are measured.
 */
#define SLOTS 64

static struct slot {
	_Alignas(128) uint64_t calls;
} slots[SLOTS];

static void count(void)
{
	static unsigned threads;
	static _Thread_local struct slot *own;

	if (!own)
		own = &slots[__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) % SLOTS];
	__atomic_fetch_add(&own->calls, 1, __ATOMIC_RELAXED);
}

uint64_t raw_futex_calls(void)
{
	uint64_t calls = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		calls += __atomic_load_n(&slots[i].calls, __ATOMIC_RELAXED);
	return calls;
}

void raw_futex_wait(const uint32_t *word, uint32_t expected)
{
	count();
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void raw_futex_wait_until(const uint32_t *word, uint32_t expected,
			  const struct timespec *deadline)
{
	count();
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

void raw_futex_wait_shared(const uint32_t *word, uint32_t expected)
{
	count();
	syscall(SYS_futex, word, FUTEX_WAIT, expected, NULL, NULL, 0);
}

void raw_futex_wake_one_shared(const uint32_t *word)
{
	count();
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void raw_futex_wake_all(const uint32_t *word)
{
	count();
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void raw_futex_wake_one(const uint32_t *word)
{
	count();
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
