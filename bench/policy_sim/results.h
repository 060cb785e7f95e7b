/* SPDX-License-Identifier: MIT */
/* Everything that was simulated, for the reports. */
#ifndef POLICY_SIM_RESULTS_H
#define POLICY_SIM_RESULTS_H

#include "options.h"
#include "run.h"

/* All rules under one B. */
struct series {
	uint64_t block_ns;
	struct suite suite;
	struct verdict *verdicts; /* in the order of rules[], those that were asked for */
	size_t n;
	struct verdict hindsight;
};

struct results {
	const struct options *options;
	struct series series[BLOCKS_MOST];
	size_t n;
};

/* Return: 0, or -ENOMEM. */
int results_run(struct results *r, const struct options *o, const struct trace *traces);
void results_destroy(struct results *r);

/* The verdict on a rule, NULL if it was not asked for. */
const struct verdict *results_find(const struct series *s, const char *name);

#endif
