/* SPDX-License-Identifier: MIT */
/* The argument is in docs/design/copy.md. */
#include "sync/copy.h"

#include "engine/sleep.h"
#include "os/sharing.h"

/* Who finds another one at it looks again after so long, in ns: that takes a few instructions. */
#define LOOK_NS 100000

/* After so many looks it asks whether the object is a private one at all. */
#define LOOKS 100

/* What belongs to waiters goes; fast paths and wakes may change the word meanwhile. */
static void keep_the_rest(const struct iw_layout *layout, struct ipcwait_word64 *word)
{
	/* ORD copy.X1: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(word);

	/* ORD copy.X2: relaxed, no order needed: copy.R1 comes after it. */
	while (!ipcwait_impl_cas64_relaxed(word, &w, w & layout->lasting))
		continue;
}

static uint32_t all_bits(const struct iw_layout *layout)
{
	return iw_copy_bits(layout) | iw_copy_busy(layout);
}

/* The note, with @mine in the place of what told the process; 0: only what was busy. */
static uint32_t noted(const struct iw_layout *layout, uint32_t note, uint32_t mine)
{
	return IW_IS_CHECKED ? mine : (note & ~all_bits(layout)) | mine;
}

static bool is(const struct iw_layout *layout, uint32_t note, uint32_t mine)
{
	return !((note ^ mine) & all_bits(layout));
}

/* One that the caller has made busy, unless a fork in a signal handler came between. */
static void finish(const struct iw_layout *layout, struct ipcwait_word32 *at, uint32_t mine)
{
	/* ORD copy.X3: relaxed, re-checked by the CAS below. */
	uint32_t note = ipcwait_impl_load32_relaxed(at);

	/* ORD copy.R1: release, so that who publishes comes after it. Pairs with copy.A1 and
	 * copy.A2. */
	while (is(layout, note, mine | iw_copy_busy(layout)) &&
	       !ipcwait_impl_cas32_release(at, &note, noted(layout, note, mine)))
		continue;
}

/*
 * One thread forgets, and the others wait for it: had two begun, the second one might find the
 * word that it has looked at again, with a waiter in the place of a phantom. A busy note is copied
 * too, and is then that of another process.
 *
 * In memory that processes share, another one may have written that the object is private, and that
 * a thread of this process is at it, which nobody would ever end.
 */
void iw_copy_forget(const struct iw_layout *layout, void *o)
{
	struct ipcwait_word32 *at = iw_copy_note(layout, o);
	uint32_t busy = iw_copy_busy(layout);
	unsigned looks = 0;

	for (;;) {
		uint32_t mine = iw_copy_own(layout, o);
		/* ORD copy.A2: acquire, as copy.A1. Pairs with copy.R1. */
		uint32_t note = ipcwait_impl_load32_acquire(at);

		if (is(layout, note, mine))
			return;
		if (is(layout, note, mine | busy)) {
			if (++looks % LOOKS == 0 && iw_memory_is_shared(o))
				return;
			if (iw_sleep_once(layout->kind, &at->v, note,
					  iw_clock_ns() + LOOK_NS, true) == -ENOSYS)
				iw_pause();
			continue;
		}
		/* ORD copy.X4: relaxed, no order needed: nothing is published before copy.R1. */
		if (!ipcwait_impl_cas32_relaxed(at, &note,
						noted(layout, note, mine | busy)))
			continue;
		if (layout->forget)
			layout->forget(o);
		else
			keep_the_rest(layout, o);
		finish(layout, at, mine);
	}
}
