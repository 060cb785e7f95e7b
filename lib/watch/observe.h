/* SPDX-License-Identifier: MIT */
/*
 * What is noted about a wait for people who look on: why it slept, and on demand a line per object
 * and call site (watch/objects.h) and the lengths themselves (watch/record.h). No lock and no
 * allocation.
 *
 * A wait that was only spun for is over in 100 ns, and a locked addition takes 5. So a thread puts
 * off up to one in 32 of such waits, and tells of several at once.
 */
#ifndef IW_WATCH_OBSERVE_H
#define IW_WATCH_OBSERVE_H

#include "os/seam.h"
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

/* Which waits are counted besides what the environment asks for (env/facts.h). */
enum iw_observed {
	IW_OBSERVE_NAMED = 1, /* those on objects with a name */
	IW_OBSERVE_ALL = 2,
};

extern struct ipcwait_word32 iw_observed;

/* From now on, until the process ends. */
void iw_observe_more(enum iw_observed what);

static inline bool iw_is_observed(const struct iw_facts *facts)
{
	/* ORD observe.X3: relaxed, statistic: a thread may notice a few waits later. */
	return facts->observed || ipcwait_impl_load32_relaxed(&iw_observed);
}

/* Once, at the end of every contended wait where iw_is_observed(). */
void iw_observe(const struct iw_facts *facts, const struct iw_outcome *o);

/* What the calling thread has put off. */
void iw_observe_all_told(void);

#endif
