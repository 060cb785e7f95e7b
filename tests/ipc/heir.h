/* SPDX-License-Identifier: MIT */
/* A robust mutex in the region, owners that come to an end, and heirs. */
#ifndef TESTS_IPC_HEIR_H
#define TESTS_IPC_HEIR_H

#include "region.h"

/* In which everything must have happened, however busy the machine. */
#define HEIR_LONG_NS INT64_C(100000000000)

/* In which nothing must have happened: some alarms of a waiter. */
#define HEIR_SHORT_NS INT64_C(30000000)

/* The mutex, robust, with these flags besides; and when nothing of a death is left. */
struct region *heir_begin(unsigned flags);
void heir_end(struct region *r);

/* Of a child to its parent: it has come so far. */
void heir_tell(struct region *r);
void heir_be_told(struct region *r);

int heir_lock_for(struct region *r, int64_t ns);

/* For a child: own the mutex, and be inside what it protects. */
void heir_own(struct region *r);
void heir_own_and_stay(struct region *r);

/* A child that does that, once it has told. */
pid_t heir_start_owner(struct region *r);

/* Use what the mutex protects, and unlock. */
void heir_unlock(struct region *r);

/* The mutex is had, with what a dead owner has left, and put in order. */
void heir_inherit(struct region *r);

#endif
