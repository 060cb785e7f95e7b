/* SPDX-License-Identifier: MIT */
#ifndef IW_QUEUE_CHANNEL_SELECT_H
#define IW_QUEUE_CHANNEL_SELECT_H

#include "engine/wait.h"
#include "queue/channel.h"
#include "queue/channel_meet.h"
#include "sync/object.h"

/* What one case waits with. */
struct iw_place {
	struct ipcwait_waitable
		line; /* of a channel with a buffer: its event count, and the key */
	struct iw_any_state in_line;
	bool notified;         /* in line, and no attempt has been made since it left */
	struct iw_offer offer; /* of one without */
};

/* One of several sends and receives, on the stack; all zero but for what the caller sets. */
struct iw_select {
	struct iw_waiter base; /* window, deadline, site: the caller's */

	/* The caller's, and valid: */
	struct ipcwait_channel_case *cases;
	unsigned n, first;      /* how many, and which is tried first */
	struct iw_place *place; /* n */
	struct iw_waitv *word;  /* n + 1 */

	unsigned done;     /* the case that was done; n: none yet */
	bool waits;        /* it makes offers */
	bool meets, lines; /* it has cases of channels without a buffer, and with */
	struct iw_party party;
	struct iw_backoff backoff;
	const uint32_t *first_word; /* of .word */
};

/* Index of the case that was done, or an error as ipcwait_channel_select(). channel_select.c */
int iw_select_run(struct iw_select *me);

/* The same of @n valid @cases. @w: what is learned from such waits. channel_cases.c */
int iw_channel_select(struct ipcwait_channel_case *cases, unsigned n, int64_t deadline_ns,
		      struct ipcwait_window *w, uintptr_t site);

#endif
