/* SPDX-License-Identifier: MIT */
/* The pool of a test, from which everything has to come back in the end. */
#ifndef TESTS_COMMON_POOL_WORLD_H
#define TESTS_COMMON_POOL_WORLD_H

#include <ipcwait/pool.h>

extern struct ipcwait_pool *pool;

/* What ipcwait_pool_create() says to elements of 64 bytes. */
int pool_begin(uint64_t max_elems, uint32_t magazine);

struct ipcwait_pool_stats pool_stats(void);

/* Nothing is left out once all threads but this one have ended. */
void pool_end(void);

#endif
