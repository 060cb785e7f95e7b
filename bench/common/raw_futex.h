/* SPDX-License-Identifier: MIT */
/*
 * The kernel's futex with nothing around it: what the library is compared with must not be
 * the library. Its own futex functions count, and learn from each wake what a wake costs.
 */
#ifndef BENCH_RAW_FUTEX_H
#define BENCH_RAW_FUTEX_H

#include <stdint.h>
#include <time.h>

/* Sleep while *@word is @expected, until a wake, or for no reason. Threads of one process. */
void raw_futex_wait(const uint32_t *word, uint32_t expected);

/* The same until the monotonic clock has reached @deadline too; NULL: never. */
void raw_futex_wait_until(const uint32_t *word, uint32_t expected,
			  const struct timespec *deadline);

/* The same for a word that several processes map. */
void raw_futex_wait_shared(const uint32_t *word, uint32_t expected);
void raw_futex_wake_one_shared(const uint32_t *word);

void raw_futex_wake_one(const uint32_t *word);
void raw_futex_wake_all(const uint32_t *word);

/* How many of these calls all threads of the process have begun so far. */
uint64_t raw_futex_calls(void);

#endif
