/* SPDX-License-Identifier: MIT */
/*
 * Queues and channels as objects of ipcwait_wait_any(): there is an element, or it is closed.
 * Nothing is taken, so a notification that has reached such a waiter is always for the next in
 * line.
 */
#ifndef IW_QUEUE_MADE_H
#define IW_QUEUE_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/eventcount.h>
#include <ipcwait/stats.h>

#include "sync/any.h"

/* What such an object's first member points to, by its .any. */
struct iw_made {
	struct iw_any_kind any; /* IW_MADE_ANY */
	enum ipcwait_kind kind;
	struct ipcwait_eventcount *(*elements)(void *object);

	/* Seq_cst, as the last look of a consumer. */
	bool (*ready)(void *object);

	/* A sleeper looks again after so long at the latest, in ns; 0: only when it is told. */
	int64_t nap_ns;
};

bool iw_made_take(const struct ipcwait_waitable *o, const struct iw_any_state *state);
struct iw_rest iw_made_announce(const struct ipcwait_waitable *o,
				struct iw_any_state *state);
bool iw_made_withdraw(const struct ipcwait_waitable *o, const struct iw_any_state *state);
void iw_made_retract(const struct ipcwait_waitable *o, const struct iw_any_state *state);

#define IW_MADE_ANY(of_type, words_are_private)                                   \
	{                                                                         \
		.made = true, .private_ = (words_are_private), .type = (of_type), \
		.take = iw_made_take, .announce = iw_made_announce,               \
		.withdraw = iw_made_withdraw, .retract = iw_made_retract,         \
	}

#endif
