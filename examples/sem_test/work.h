/* SPDX-License-Identifier: MIT */
/*
 * The work that a producer or a consumer does for an item.
 *
 * One loop is one integer operation that needs the result of the one before, so it costs
 * one cycle on any CPU that adds in one cycle, whatever is around it. The chain lives in
 * registers (a loop through memory varies by a factor of two with its alignment) and is
 * compiled in a library of its own with fixed flags, so that a debug, a release and a
 * sanitized build do the same work.
 */
#ifndef SEM_TEST_WORK_H
#define SEM_TEST_WORK_H

#include <stdint.h>

/* The end of a chain of @loops operations that starts with @x. Use it, or it is not done. */
uint64_t work(uint64_t x, uint64_t loops) __attribute__((noinline, warn_unused_result));

#endif
