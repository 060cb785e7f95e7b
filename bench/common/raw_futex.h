/* SPDX-License-Identifier: MIT */
/*
 * The kernel's futex with nothing around it: what the library is compared with must not be
 * the library. Its own futex functions count, and learn from each wake what a wake costs.
 */
#ifndef BENCH_RAW_FUTEX_H
#define BENCH_RAW_FUTEX_H

#include <stdint.h>

/* Sleep while *@word is @expected, until a wake, or for no reason. Threads of one process. */
void raw_futex_wait(uint32_t *word, uint32_t expected);

void raw_futex_wake_one(uint32_t *word);

#endif
