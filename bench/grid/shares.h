/* SPDX-License-Identifier: MIT */
/*
 * A number of operations for all threads together, of which each takes what it gets to do. With
 * a number for each, those that were starved would be alone at the end. They are taken in
 * shares, so that the counter is no part of what is measured, and small ones, so that the end
 * is short.
 */
#ifndef BENCH_SHARES_H
#define BENCH_SHARES_H

#include <stdint.h>

struct shares {
	uint64_t total, each;
	_Alignas(128) uint64_t taken;
};

void shares_init(struct shares *s, uint64_t total, unsigned takers);

/* Returns how many are to be done now, 0 at the end. @first is the number of the first. */
uint64_t shares_take(struct shares *s, uint64_t *first);

#endif
