/* SPDX-License-Identifier: MIT */
/*
 * Histories to test the checkers with: random ones that are linearizable because something
 * did the operations one after the other, small changes to them that may make them wrong,
 * and every way in which a few operations can overlap.
 */
#ifndef TESTS_LINEAR_RANDOM_HISTORY_H
#define TESTS_LINEAR_RANDOM_HISTORY_H

#include "linear/specs.h"

#define RANDOM_CODES 8

struct random_mix {
	unsigned threads;              /* at most 8 */
	unsigned weight[RANDOM_CODES]; /* of each operation code */
	unsigned most;                 /* tokens of a post, steps of a count-down */
	unsigned killed_in_100;        /* operations whose thread dies in them */
};

/*
 * Operations on an object whose specification has one for each call; some are pending, killed or
 * blocked at the end. Returns how many: @n, or fewer if all threads block.
 */
size_t random_history(struct history_op *ops, size_t n, const struct spec *spec,
		      const struct random_mix *mix, uint64_t *seed);

/* Change something. Returns how many operations there are now: one more or less, or as many. */
size_t random_change(struct history_op *ops, size_t n, uint64_t *seed);

/*
 * Call @look with every order in which the calls and returns of @ops can come, pending ones
 * never returning; changes their times only.
 */
void every_history(struct history_op *ops, size_t n,
		   void (*look)(const struct history_op *ops, size_t n));

#endif
