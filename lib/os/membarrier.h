/* SPDX-License-Identifier: MIT */
/*
 * A full memory barrier on every CPU that runs a thread of this process, at the expense of the one
 * who asks for it: membarrier(2). Of two sides the one that is in a hurry then needs none of its
 * own. errno is preserved.
 */
#ifndef IW_OS_MEMBARRIER_H
#define IW_OS_MEMBARRIER_H

#include <stdbool.h>

/*
 * Whether this process may; from then on it does. The first time it waits for all CPUs, for
 * milliseconds perhaps. False: no such kernel, or a filter forbids it.
 */
bool iw_membarrier_register(void);

/*
 * Every other thread of the process has had a barrier at some moment during this call, and so has
 * the caller, at its begin and end. False: none. Async-signal-safe.
 */
bool iw_membarrier(void);

#endif
