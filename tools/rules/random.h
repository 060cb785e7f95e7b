/* SPDX-License-Identifier: MIT */
/*
 * Numbers that are the same in every run with the same seed. splitmix64 (Steele, Lea,
 * Flood, OOPSLA 2014): one word of state, any seed is good, and streams whose seeds are
 * hashes of names do not touch each other.
 */
#ifndef TOOLS_RULES_RANDOM_H
#define TOOLS_RULES_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

/* The stream of (@seed, @name, @name2); @name2 may be NULL. */
struct random random_stream(uint64_t seed, const char *name, const char *name2);

uint64_t random_next(struct random *r);

/* Uniform, above 0 and below 1. */
double random_unit(struct random *r);

/* Normal with mean 0 and deviation 1. */
double random_normal(struct random *r);

#endif
