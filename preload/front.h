/* SPDX-License-Identifier: MIT */
/*
 * A spin in front of a call that is left to the original: look at the object, and try, until the
 * engine says to sleep; then call the original, which sleeps in its own way. So the object keeps
 * the layout and the meaning that the original gives it, and may be shared with processes that are
 * not preloaded.
 */
#ifndef IW_PRELOAD_FRONT_H
#define IW_PRELOAD_FRONT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "engine/wait.h"
#include "engine/wake.h"
#include "place.h"

/* Until when, at the latest. */
struct front_limit {
	clockid_t clock;
	const struct timespec *at; /* NULL: for ever */
};

/* Which signal handlers end it with EINTR, be it in the original or in the spin in front of it. */
enum front_interrupts {
	FRONT_NEVER,
	FRONT_INTERRUPTING, /* those without SA_RESTART */
	FRONT_ANY,
};

/* One wait. A call embeds it first in a struct of its own, or has enough in it. */
struct front {
	struct iw_waiter base;
	void *object;
	struct front_limit limit;
	enum front_interrupts interrupts;
	bool point;       /* a cancellation point, and each look is one */
	uint32_t handled; /* handlers of that kind that had run when it began */
	struct place *place;
	bool over;  /* the original has returned */
	int result; /* what the call returns: 0 or an errno */
};

/* What differs from call to call. */
struct front_call {
	struct iw_waitable waitable; /* iw_front_look(), iw_front_settle(), and the kind */

	/*
	 * The object as it is: EBUSY if it is not there, and nothing but reads until it is. May be
	 * left by cancellation, with nothing taken.
	 */
	int (*take)(const struct front *me);

	/* The original, which waits until the limit. */
	int (*block)(const struct front *me);
};

/* True if a handler has run that ends the call: its result is EINTR then. */
bool iw_front_interrupted(struct front *me);

enum iw_seen iw_front_look(struct iw_waiter *base);
struct iw_rest iw_front_settle(struct iw_waiter *base);

/*
 * Wait as @call says: @me has object, limit, interrupts and point, and is zero else. @site as in
 * struct iw_waiter. Returns the result; errno is untouched but by signal handlers.
 */
int iw_front_wait(struct front *me, const struct front_call *call, uintptr_t site);

/*
 * @limit in ns of CLOCK_MONOTONIC, right now. False if it is none that the original would wait
 * for: it says what is wrong.
 */
bool iw_front_deadline(const struct front_limit *limit, int64_t *deadline_ns);

/* Before an unlock that is to wake sleepers: stamps the place, which may be NULL. */
static inline uint64_t iw_front_stamp(struct place *p)
{
	return p ? iw_stamp(&p->window) : 0;
}

#endif
