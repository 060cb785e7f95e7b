/* SPDX-License-Identifier: MIT */
/* The shapes of synthetic waits. Lengths in @p are multiples of B unless named _us. */
#ifndef POLICY_SIM_WAITS_H
#define POLICY_SIM_WAITS_H

#include "../../tools/rules/random.h"

#include <stddef.h>
#include <stdint.h>

/* Where the waits go, and what they are made from. */
struct draw {
	uint64_t *waits_ns;
	size_t n;
	double block_ns;
	struct random random;
};

/* Least, most. */
void waits_uniform(struct draw *d, const double *p);
void waits_uniform_us(struct draw *d, const double *p);

/* Mean. */
void waits_exponential(struct draw *d, const double *p);

/* Share of the first mode; the two modes, each spread by a tenth up and down. */
void waits_bimodal(struct draw *d, const double *p);

/* Share of exponential waits; their mean; the others: least and most in us. */
void waits_tail_us(struct draw *d, const double *p);

/* Exponent, least. */
void waits_pareto(struct draw *d, const double *p);

/* Median, sigma of the logarithm. */
void waits_lognormal(struct draw *d, const double *p);

/* Least, most, waits of a full swing up and down; spread by a tenth. */
void waits_drift(struct draw *d, const double *p);

/* Two lengths, spread by a tenth; after this many waits the other one. */
void waits_regimes(struct draw *d, const double *p);

/* Two lengths, exactly; how many of the first in a row, of the second. */
void waits_turns(struct draw *d, const double *p);

/*
 * Adversaries: they know the rule, its state and even its jitter. The first always waits a
 * nanosecond longer than the rule spins. The others do that in every sixteenth and 32nd
 * wait only, and in between teach the rule that spinning for B, or for 2B, pays.
 */
uint64_t waits_just_beyond(size_t i, uint64_t spin_ns, uint64_t block_ns, struct random *r);
uint64_t waits_lure_to_b(size_t i, uint64_t spin_ns, uint64_t block_ns, struct random *r);
uint64_t waits_lure_to_2b(size_t i, uint64_t spin_ns, uint64_t block_ns, struct random *r);

#endif
