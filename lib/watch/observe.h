/* SPDX-License-Identifier: MIT */
/*
 * What is noted about a wait for people who look on: why it slept, and on demand of the
 * environment a line per object (watch/explain.h) and the lengths themselves (watch/record.h).
 * No lock and no allocation.
 */
#ifndef IW_WATCH_OBSERVE_H
#define IW_WATCH_OBSERVE_H

#include "policy/reason.h"
#include "watch/stats.h"
#include <stdbool.h>
#include <stdint.h>

#include "env/facts.h"

struct iw_outcome {
	const struct ipcwait_window *window;
	uintptr_t site; /* where the program waited; 0: not known */
	enum ipcwait_kind kind;
	bool resumable;   /* such a wait may sleep on a timer */
	uint64_t wait_ns; /* true length; 0 if not known */
	uint64_t spun_useful_ns, spun_wasted_ns;
	uint64_t slept_ns;
	uint64_t window_ns;    /* the chosen spin; 0 for none */
	enum iw_reason reason; /* why it slept, or IW_NO_REASON */
	int result;
};

/* Once, at the end of every contended wait where iw_facts.observed. */
void iw_observe(const struct iw_facts *facts, const struct iw_outcome *o);

#endif
