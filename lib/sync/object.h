/* SPDX-License-Identifier: MIT */
/*
 * What all objects do alike: where they keep what each of them has, whether a call may use one, how
 * a wait for one begins, how sleepers are woken, and how long a sleeper goes without a look.
 */
#ifndef IW_SYNC_OBJECT_H
#define IW_SYNC_OBJECT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ipcwait/policy.h>
#include <ipcwait/stats.h>

#include "engine/wait.h"
#include "engine/wake.h"
#include "watch/misuse.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the futex is the low half");

/* Every object begins with its word, whose low half is the futex. */
#define IW_WINDOW_AT 16
#define IW_ASSERT_LAYOUT(type, size)                                    \
	_Static_assert(sizeof(type) == (size) && _Alignof(type) == 8 && \
			       offsetof(type, word) == 0 &&             \
			       offsetof(type, window) == IW_WINDOW_AT,  \
		       "shared-memory layout 0")

/* All of the note but one bit. */
#define IW_NOTE_GENERATION UINT32_C(0x7fffffff)

/* What differs from kind to kind. */
struct iw_layout {
	enum ipcwait_kind kind;
	unsigned known_flags; /* what init may be given */
	uint8_t flags;        /* where they are ... */
	uint8_t flags_bytes;  /* ... and how wide */
	uint8_t note;         /* where a private one has its note, copy.h; 0: nowhere */

	/* Of the note, what tells the process, unless the build is checked. */
	uint32_t generation;

	/* Of the word, what is not a waiter's; or all that is a waiter's is forgotten by this. */
	uint64_t lasting;
	void (*forget)(void *o);
};

static inline uint32_t iw_flags(const struct iw_layout *layout, const void *o)
{
	uint32_t flags = 0;

	memcpy(&flags, (const char *)o + layout->flags, layout->flags_bytes);
	return flags;
}

/* All ones, however wide they are: the object was finished. No kind knows all of them. */
#define IW_FLAGS_FINISHED UINT32_MAX

/* It was finished, or marked by something that comes later: what it waits for is not known here. */
static inline bool iw_is_unusable(const struct iw_layout *layout, const void *o)
{
	return iw_flags(layout, o) & ~layout->known_flags;
}

static inline const char *iw_why_unusable(const struct iw_layout *layout, const void *o)
{
	return iw_flags(layout, o) == IW_FLAGS_FINISHED >> (32 - 8 * layout->flags_bytes)
		       ? IW_FINISHED
		       : IW_OTHER_LAYOUT;
}

static inline bool iw_is_misplaced(const void *o)
{
	return !o || (uintptr_t)o % 8;
}

/* 0, or the error of @call if @o is none that this process can use. */
static inline int iw_check(const struct iw_layout *layout, const void *o, const char *call)
{
	if (iw_is_misplaced(o))
		return iw_misuse(-EINVAL, layout->kind, o, call,
				 o ? IW_MISALIGNED : IW_NULL);
	if (iw_is_unusable(layout, o))
		return iw_misuse(-EINVAL, layout->kind, o, call,
				 iw_why_unusable(layout, o));
	if (!layout->note)
		return 0;
	return iw_private_check((const uint32_t *)o + layout->note / sizeof(uint32_t),
				layout->kind, o, call);
}

/* 0, or the error of @call if it cannot make an object of that; @in_range: its other argument. */
static inline int iw_check_init(const struct iw_layout *layout, const void *o,
				unsigned flags, bool in_range, const char *call)
{
	const char *wrong = NULL;

	if (iw_is_misplaced(o))
		wrong = o ? IW_MISALIGNED : IW_NULL;
	else if (!in_range)
		wrong = IW_OUT_OF_RANGE;
	else if (flags & ~layout->known_flags)
		wrong = IW_UNKNOWN_FLAGS;
	return wrong ? iw_misuse(-EINVAL, layout->kind, o, call, wrong) : 0;
}

/*
 * @me, all zero, is to wait for @o, which has passed iw_check(); @site as in the struct. In place:
 * returned as a struct it was cleared and copied once more, 11 ns of a semaphore's slow path and 27
 * of a reader-writer lock's.
 */
static inline void iw_waiter_begin(struct iw_waiter *me, const struct iw_layout *layout,
				   void *o, const struct iw_waitable *what,
				   int64_t deadline_ns, uintptr_t site)
{
	uint32_t flags = iw_flags(layout, o);

	me->what = what;
	me->window = (void *)((char *)o + IW_WINDOW_AT);
	me->futex = o;
	me->deadline_ns = deadline_ns;
	me->site = site;
	me->private_ = flags & IPCWAIT_PRIVATE;
	me->interruptible = flags & IPCWAIT_INTERRUPTIBLE;
	me->mortal = !me->private_;
}

/*
 * One call that may have to wake sleepers: it stamps the window, publishes in one step what they
 * wait for, and wakes. From that step on the object may be gone.
 */
struct iw_waker {
	enum ipcwait_kind kind;
	const uint32_t *futex;
	struct ipcwait_window *window;
	bool private_;
	bool stale;          /* wakes that are said to be under way are not */
	bool stamped;        /* also if that has told no time */
	uint64_t stamped_at; /* what iw_wake() learns from; 0: nothing */
};

static inline struct iw_waker iw_waker_on(const struct iw_layout *layout, void *o)
{
	return (struct iw_waker){
		.kind = layout->kind,
		.futex = o,
		.window = (void *)((char *)o + IW_WINDOW_AT),
		.private_ = iw_flags(layout, o) & IPCWAIT_PRIVATE,
	};
}

/*
 * Whether to forget the wakes that are @under_way: one that has not arrived after a while may
 * never, because its waker was killed before the system call, or its sleeper after it. Once
 * doubted they stay so for this call, whose own stamp is fresh.
 */
static inline bool iw_waker_doubts(struct iw_waker *me, bool under_way)
{
	if (under_way && !me->stale)
		me->stale = !iw_stamp_fresh(me->window);
	return me->stale;
}

/* Before the step, if sleepers are @due to be woken after it. */
static inline void iw_waker_stamp(struct iw_waker *me, bool due)
{
	if (!due || me->stamped)
		return;
	me->stamped_at = iw_stamp(me->window);
	me->stamped = true;
}

/* After the step. Uses only the address of the object. */
static inline void iw_waker_wake(const struct iw_waker *me, uint32_t count)
{
	(void)iw_wake(me->kind, me->futex, count, me->private_, me->stamped_at);
}

/* The same for those of @count sleepers who are in a class of @bits. Returns how many. */
static inline int iw_waker_wake_bits(const struct iw_waker *me, uint32_t count,
				     uint32_t bits)
{
	return iw_wake_bits(me->kind, me->futex, count, me->private_, bits, me->stamped_at);
}

/*
 * How long a sleeper goes without a look though nobody wakes it: twice as long each time. So it
 * sees what nobody tells it, a death above all, and its looks cost a fixed part of a CPU at most.
 */
struct iw_backoff {
	int64_t ns; /* the last length; 0: none yet */
};

static inline int64_t iw_back_off(struct iw_backoff *b, int64_t first_ns, int64_t most_ns)
{
	b->ns = b->ns ? 2 * b->ns : first_ns;
	if (b->ns > most_ns)
		b->ns = most_ns;
	return b->ns;
}

#endif
