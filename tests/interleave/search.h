/* SPDX-License-Identifier: MIT */
/* Which decisions are taken, execution after execution. */
#ifndef TESTS_INTERLEAVE_SEARCH_H
#define TESTS_INTERLEAVE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

/* Decisions in one execution, at most. */
#define DECISIONS_MAX 8192

enum search_mode {
	SEARCH_ALL,       /* depth first, all of them */
	SEARCH_SCATTERED, /* the usual ones, but for a few anywhere in the execution */
	SEARCH_PCT, /* random priorities that change a few times (Burckhardt and others, 2010) */
	SEARCH_RANDOM, /* each alike */
	SEARCH_REPLAY, /* those that are given, then the usual ones */
};

struct search {
	enum search_mode mode;
	unsigned depth; /* PCT: priorities change depth - 1 times */
	uint64_t seed;
	unsigned steps; /* PCT, SCATTERED: usual length of an execution */
};

/* A list of decisions; each is usual if it is 0. */
struct schedule {
	unsigned n;
	uint16_t taken[DECISIONS_MAX];
};

/* What may happen next: a thread goes on, or something that is no thread's doing. */
struct option {
	uint8_t kind; /* 0: the thread runs; else an event */
	uint8_t thread;
};

void search_begin(const struct search *s, const struct schedule *replay);

/* Before each execution: number @run of this search. */
void search_start(uint64_t run);

/* After it, with SEARCH_ALL: false if all have been tried. */
bool search_next(void);

/*
 * With SEARCH_ALL, then: how much of the tree has been tried, if all branches of a decision were
 * alike. The first are the largest, as they have the preemptions still to come: it is more.
 */
double search_share(void);

unsigned search_pick(const struct option *options, unsigned n);
unsigned search_value(unsigned n);

/* The same where all but 0 are events: chance seldom takes them, so that late ones come too. */
unsigned search_rarely(unsigned n);

/* What was decided in this execution. */
const struct schedule *search_taken(void);

#endif
