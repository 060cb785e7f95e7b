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
#include "os/thread.h"
#include "policy/hash.h"
#include "policy/reason.h"
#include "watch/stats.h"
#include <stdbool.h>
#include <stdint.h>

#include "env/facts.h"

struct iw_outcome {
	const struct ipcwait_window *window;
	uintptr_t site; /* where the program waited; 0: not known */
	enum ipcwait_kind kind;
	bool resumable;     /* such a wait may sleep on a timer */
	uint64_t wait_ns;   /* true length; 0 if not known */
	uint64_t caused_ns; /* of that, what the thread caused itself */
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

/* Of the waits that were told of, so many to one that is not yet; and the most of these. */
#define IW_TOLD_PER_WAIT 32
#define IW_UNTOLD_MOST   256

/* A thread that waits on a few objects in turn has a slot for each, as a rule. */
static inline struct iw_untold *iw_untold_of(const struct iw_outcome *o)
{
	uint64_t hash = iw_hash((uintptr_t)o->window) >> 32;

	return &iw_self()->untold[hash % IW_UNTOLD_SLOTS];
}

/*
 * One more like those in the slot. Reason and result are not asked for together: they have just
 * been written one by one, and a load of both would wait for the stores, 15 cycles of a CPU by
 * Intel.
 */
static inline bool iw_may_put_off(const struct iw_untold *u, const struct iw_config *config,
				  const struct iw_outcome *o)
{
	return o->reason == IW_NO_REASON && u->window == (uintptr_t)o->window &&
	       u->site == o->site && u->all == config->explain &&
	       u->waits + 1 < IW_UNTOLD_MOST &&
	       (u->waits + 1) * IW_TOLD_PER_WAIT <= u->told && !config->record_path[0] &&
	       !o->result;
}

void iw_observe_now(const struct iw_facts *facts, const struct iw_outcome *o);

/* Once, at the end of every contended wait where iw_is_observed(). */
static inline void iw_observe(const struct iw_facts *facts, const struct iw_outcome *o)
{
	struct iw_untold *u = iw_untold_of(o);

	if (!iw_may_put_off(u, &facts->config, o)) {
		iw_observe_now(facts, o);
		return;
	}
	u->waits++;
	u->spun_ns += o->spun_useful_ns;
}

/* What the calling thread has put off. */
void iw_observe_all_told(void);

#endif
