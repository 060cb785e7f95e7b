/* SPDX-License-Identifier: MIT */
/*
 * What fork(2) copies. A child has a copy of each private object, with all that threads of the
 * parent had published in it to wait: none of them is in the child. So an object notes of which
 * process its waiters are. Who is about to publish a wait, or to believe what others have
 * published, forgets those of another process first, and then notes its own. What is not a
 * waiter's (tokens, a set, who holds a lock) stays.
 *
 * Until the note is right nobody has published anything in this process. So whoever posts,
 * signals or unlocks may take phantoms for waiters: no other one goes without what they get.
 * docs/design/copy.md
 */
#ifndef IW_SYNC_COPY_H
#define IW_SYNC_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "os/life.h"
#include "os/seam.h"
#include "sync/object.h"

static inline struct ipcwait_word32 *iw_copy_note(const struct iw_layout *layout, void *o)
{
	return (struct ipcwait_word32 *)o + layout->note / sizeof(uint32_t);
}

/* The bits of the note that tell the process, side by side. */
static inline uint32_t iw_copy_bits(const struct iw_layout *layout)
{
	return IW_IS_CHECKED ? IW_PRIVATE_PROCESS : layout->generation;
}

/* The bit above them: its waiters are just being forgotten. */
static inline uint32_t iw_copy_busy(const struct iw_layout *layout)
{
	return iw_copy_bits(layout) + (iw_copy_bits(layout) & -iw_copy_bits(layout));
}

/* The note of the caller's process. */
static inline uint32_t iw_copy_own(const struct iw_layout *layout, const void *o)
{
	if (IW_IS_CHECKED)
		return iw_private_owner(o, IPCWAIT_PRIVATE);
	return (iw_process_generation() * (layout->generation & -layout->generation)) &
	       layout->generation;
}

/* What a new object notes, for which nobody waits. */
static inline uint32_t iw_copy_new(const struct iw_layout *layout, const void *o,
				   unsigned flags)
{
	return flags & IPCWAIT_PRIVATE ? iw_copy_own(layout, o) : 0;
}

/* Out of line: what another process has published in @o is forgotten. May wait for others. */
void iw_copy_forget(const struct iw_layout *layout, void *o);

/* Before a wait is published in @o, or those of others are believed. Not in a signal handler. */
static inline void iw_copy_mend(const struct iw_layout *layout, void *o)
{
	uint32_t note;

	if (!(iw_flags(layout, o) & IPCWAIT_PRIVATE))
		return;
	/*
	 * ORD copy.A1: acquire, so that what the caller publishes comes after what was forgotten.
	 * Pairs with copy.R1.
	 */
	note = ipcwait_impl_load32_acquire(iw_copy_note(layout, o));
	if ((note ^ iw_copy_own(layout, o)) & (iw_copy_bits(layout) | iw_copy_busy(layout)))
		iw_copy_forget(layout, o);
}

#endif
