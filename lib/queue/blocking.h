/* SPDX-License-Identifier: MIT */
/*
 * How calls of queues and channels wait: on an event count beside the object, whose notifications
 * only say that it is worth trying again.
 *
 *   caller that cannot go on              caller that changes something
 *   ------------------------              -----------------------------
 *   attempt ... (the engine's window)     the change                        seq_cst
 *   into the line            seq_cst      somebody in line? (one load)      seq_cst
 *   attempt once more        seq_cst        no: done, and nothing was written
 *   sleep                                   yes: notify one for each thing
 *
 * One of the two sees the other: so nobody in line is told of nothing, and a change with nobody in
 * line costs a load. The change, and the last attempt's look at it, are the object's, and must be
 * seq_cst, unless the waiter has a barrier made for all threads in between.
 */
#ifndef IW_QUEUE_BLOCKING_H
#define IW_QUEUE_BLOCKING_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/eventcount.h>
#include <ipcwait/stats.h>

#include "engine/wait.h"
#include "os/seam.h"
#include "sync/any.h"
#include "sync/eventcount.h"

/* A call that may have to wait; in front of what it works on. */
struct iw_blocking {
	struct iw_waiter base;
	struct ipcwait_waitable line; /* the event count, and its key */
	struct iw_any_state in_line;
	int64_t nap_ns; /* a sleep ends after so long, for an attempt; 0: it does not */

	/* The call once more. True: it is over, whatever its result. */
	bool (*attempt)(struct iw_blocking *me);

	/*
	 * NULL, or where the change is a plain store: a barrier for all threads, between the line
	 * and the last attempt. False: there was none, and the change may be told to nobody.
	 */
	bool (*fence)(void);
};

/*
 * @me's attempt was made, in vain. Tries until it is over: then 0. -ETIMEDOUT, -EINVAL or -ENOSYS
 * as iw_wait(). No signal ends it. @kind: QUEUE or CHANNEL.
 */
int iw_block(struct iw_blocking *me, struct ipcwait_eventcount *ec, enum ipcwait_kind kind,
	     int64_t deadline_ns, uintptr_t site);

/* After the change: whether somebody may have to be told of it. */
static inline bool iw_is_blocked(const struct ipcwait_eventcount *ec)
{
	/*
	 * ORD blocking.S1: seq_cst, after a change that is: whoever is not in line yet looks at the
	 * change later, and sees it. Pairs with eventcount.S1.
	 */
	return ipcwait_impl_load64_seq_cst(&ec->word) >> 43 & 0x3ff;
}

/* After the change: @n calls may go on now. Async-signal-safe. @kind as iw_block()'s. */
static inline void iw_unblock(struct ipcwait_eventcount *ec, uint32_t n,
			      enum ipcwait_kind kind)
{
	if (iw_is_blocked(ec))
		(void)iw_eventcount_notify(ec, n, kind);
}

#endif
