/* SPDX-License-Identifier: MIT */
/*
 * What is noted about a wait for people who look on: why it slept, and on demand of the
 * environment a line per object (wait/explain.h) and the lengths themselves (wait/record.h).
 * No lock and no allocation.
 */
#ifndef IW_WAIT_OBSERVE_H
#define IW_WAIT_OBSERVE_H

#include "wait/reason.h"
#include "wait/stats.h"
#include "wait/wait.h"

struct iw_outcome {
	uint64_t wait_ns; /* true length; 0 if not known */
	uint64_t spun_useful_ns, spun_wasted_ns;
	uint64_t slept_ns;
	uint64_t window_ns;    /* the chosen spin; 0 for none */
	enum iw_reason reason; /* why it slept, or IW_NO_REASON */
	int result;
};

/* The rest, for a process that is being watched. */
void iw_observe_closely(const struct iw_waiter *me, const struct iw_outcome *o);

/* Once, at the end of every contended wait. */
static inline void iw_observe(const struct iw_waiter *me, const struct iw_outcome *o)
{
	if (o->reason)
		iw_count_reason(o->reason);
	if (me->facts && (me->facts->config.explain || me->facts->config.record_path[0]))
		iw_observe_closely(me, o);
}

#endif
