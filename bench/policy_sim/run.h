/* SPDX-License-Identifier: MIT */
/*
 * Running rules over the suite, under a virtual clock.
 *
 * A wait of length X, with a spin of tau before it sleeps, costs X if X <= tau, else
 * tau + B. The best that anybody could do knowing X is min(X, B). The difference is the
 * loss of that wait.
 *
 * A rule may put a sleep that a timer ends and a second spin before the sleep. A wait that
 * ends during it costs what was spun until then, and B; one that ends in the second spin
 * costs the spins and the CPU time of the timer, which can be less than "the best".
 */
#ifndef POLICY_SIM_RUN_H
#define POLICY_SIM_RUN_H

#include "../../tools/rules/rule.h"
#include "suite.h"

/* A rule on one member. */
struct score {
	double ratio;     /* sum of costs / sum of the best */
	double spun;      /* time spun / time waited */
	double slept;     /* share of the waits that slept */
	uint64_t loss_ns; /* largest of a single wait */
};

/*
 * A rule on all members but the adversarial ones, unless it says otherwise. Means over
 * members give each member the same weight, however long its waits are.
 */
struct verdict {
	const char *name;     /* of the rule */
	struct score *scores; /* one per member of the suite */
	double mean;          /* of the members' ratios: "the suite mean" */
	double worst;         /* of the stationary members' ratios */
	size_t worst_member;
	double spun, slept;   /* means */
	uint64_t loss_p50_ns; /* of single waits, all members pooled */
	uint64_t loss_p99_ns;
	uint64_t loss_max_ns; /* adversarial members too */
	size_t loss_member;   /* where that was */
};

/* Return: 0, or -ENOMEM. */
int run_rule(struct verdict *v, const struct suite *s, const struct rule *rule,
	     uint64_t seed);

/*
 * The one threshold of each member that costs least, known only afterwards: what a rule
 * that does not look at the order of waits cannot beat.
 */
int run_hindsight(struct verdict *v, const struct suite *s);

void verdict_destroy(struct verdict *v);

#endif
