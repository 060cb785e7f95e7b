/* SPDX-License-Identifier: MIT */
/* Deadlines and clocks that are wrong, over or far away. */
#ifndef TESTS_PRELOAD_MOMENTS_H
#define TESTS_PRELOAD_MOMENTS_H

#include <stdbool.h>
#include <time.h>

enum moment_kind {
	OVER,        /* in the past */
	OVER_BEFORE, /* before 1970, which not every call takes for a deadline */
	WRONG,       /* no time at all */
	WRONG_BEFORE /* neither: what is looked at first decides */
};

struct moment {
	const char *name;
	struct timespec at;
	enum moment_kind kind;
};

struct clock_case {
	const char *name;
	clockid_t clock;
	bool valid;
};

#define MOMENTS 9
#define CLOCKS  10

/* All are over or invalid. */
extern const struct moment moments[MOMENTS];
extern const struct clock_case clocks[CLOCKS];
/* So far away that a sum overflows. */
extern const struct timespec moment_huge;

/* What a call that waits with each of them and with each clock answers, one line each. */
struct timed_call {
	const char *name;
	int (*call)(void *object, clockid_t clock, const struct timespec *at);
	void *object;
	int valid;   /* what it should answer to a good deadline that is over */
	int invalid; /* and to one that is none */
	int before; /* and to one before 1970, 0 if the same as any that is over; -1 if anything */
};

void try_moments(const struct timed_call *t, clockid_t clock);
/* @bad_clock: what it answers to a clock that cannot be waited for. */
void try_clocks(const struct timed_call *t, int bad_clock);

#endif
