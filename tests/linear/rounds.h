/* SPDX-License-Identifier: MIT */
/*
 * Short histories of real threads, many of them: rounds in which a few threads begin together, do
 * a few operations each on a new object, and meet again. Each round's history is judged by
 * wing_gong.h. Every fourth is also changed at random and judged again, so that a run in which the
 * checker refuses nothing is a failure too.
 *
 * A thread may wait without a deadline for something that no thread is bound to do: thread 0, when
 * it has done its part, does it again and again until the others have done theirs.
 */
#ifndef TESTS_LINEAR_ROUNDS_H
#define TESTS_LINEAR_ROUNDS_H

#include <ipcwait/ipcwait.h>

#include "linear/specs.h"

#define ROUNDS_THREADS_MAX 6

struct rounds_user {
	struct history part; /* of this thread, in this round */
	unsigned id;
	uint64_t seed;
};

struct rounds {
	const char *name;
	struct spec spec;
	enum ipcwait_kind kind; /* of the object, for the number of sleeps */
	unsigned threads;
	unsigned count; /* rounds; with IW_STRESS_SECONDS five times as many */
	/* Handlers run in the threads, without SA_RESTART. Whoever is forgotten asleep gets up. */
	bool signals;
	/* Makes the object; nobody else runs. @round to use other flags and presets in each. */
	void (*begin)(unsigned round);
	void (*turn)(struct rounds_user *me);
	/* When all are done: what can be asked then. Optional. */
	void (*last_words)(struct rounds_user *host);
	/* Before the history is judged. Returns the number of operations. Optional. */
	size_t (*prepare)(struct history_op *ops, size_t n);
};

void rounds_run(const struct rounds *r);

/* A number below @limit. */
unsigned rounds_below(struct rounds_user *me, unsigned limit);

/* A deadline within @most_ns; one in eight has passed. */
int64_t rounds_deadline(struct rounds_user *me, unsigned most_ns);

/* Some time passes, mostly little; or another thread has the CPU. */
void rounds_dawdle(struct rounds_user *me);

/* The same, but at times for so long that deadlines of others pass. */
void rounds_nap(struct rounds_user *me);

/* Flags and preset for the object of a round: private or not; learning, sleeping, spinning. */
unsigned rounds_flags(unsigned round);
void rounds_set_preset(struct ipcwait_window *window, unsigned round);

/* Around a wait that thread 0 may have to end. */
void rounds_park(void);
void rounds_unpark(void);

/* After a wait with a deadline that something else than the deadline has ended. */
void rounds_came_back(void);

/* How many are parked; more may be any time. */
unsigned rounds_parked(void);

/*
 * For thread 0: call @release until all others are done, which tells how many waits end on account
 * of it, or have ended and not yet come back. Only while all others are parked, or as soon as one
 * is, if what they do besides cannot take from those what they are given. Then whoever is forgotten
 * is forgotten for good, and the test gets stuck.
 */
void rounds_release_all(struct rounds_user *me, bool any_time,
			unsigned (*release)(struct rounds_user *me));

/* Record an operation that has no more to it: its argument, and how it ended. */
int64_t rounds_record(struct rounds_user *me, unsigned code, int64_t arg,
		      int64_t (*operation)(int64_t arg));

#endif
