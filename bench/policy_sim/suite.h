/* SPDX-License-Identifier: MIT */
/*
 * The waits that the rules are judged by: synthetic members, all from the seed, and
 * recorded traces.
 *
 * Lengths of synthetic members are multiples of B, so that every B asks the same question;
 * a few are absolute times, which is said in their names.
 */
#ifndef POLICY_SIM_SUITE_H
#define POLICY_SIM_SUITE_H

#include "../../tools/rules/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACES_MOST 64
#define WAITS_MOST  10000000

enum kind {
	STATIONARY,  /* independent draws from one distribution */
	CHANGING,    /* patterns, drifts, changes of regime */
	YOUNG,       /* objects that live for a few waits each */
	RECORDED,    /* a trace */
	ADVERSARIAL, /* sees the threshold, counts for the loss on a single wait only */
	N_KINDS,
};

extern const char *const kind_names[N_KINDS];

struct member {
	char name[40];
	enum kind kind;
	size_t n;
	size_t life;        /* waits of each object; 0: all are on one */
	unsigned sites;     /* that wait for the objects by turns */
	uint64_t *waits_ns; /* NULL where an adversary chooses them */
	/* Wait number @i of an adversary, who sees what the rule is about to spin. */
	uint64_t (*strike)(size_t i, uint64_t spin_ns, uint64_t block_ns, struct random *r);
};

struct suite {
	uint64_t block_ns;
	struct member *members;
	size_t n;
	bool synthetic; /* there are others than traces */
};

/* A trace as read from its file. */
struct trace {
	char name[40];
	uint64_t *waits_ns;
	size_t n;
};

/* @n_waits: of each synthetic member; 0: only the traces. Return: 0, or -ENOMEM. */
int suite_create(struct suite *s, uint64_t block_ns, uint64_t seed, size_t n_waits,
		 const struct trace *traces, size_t n_traces);
void suite_destroy(struct suite *s);

#endif
