/* SPDX-License-Identifier: MIT */
/* The public futex: one wait on a word, with a window. No state word of its own; what the
 * caller's word may mean is in docs/design/futex.md. */
#include <errno.h>

#include <ipcwait/futex.h>

#include "os/seam.h"
#include "watch/misuse.h"
#include "engine/sleep.h"
#include "engine/wait.h"
#include "engine/wake.h"

struct futex_waiter {
	struct iw_waiter base;
	const struct ipcwait_word32 *word;
	uint32_t expected;
};

static bool changed(const struct futex_waiter *me)
{
	/* ORD futex.X1: relaxed, no order promised: the caller loads the word again. */
	return ipcwait_impl_load32_relaxed(me->word) != me->expected;
}

/* One wake ends the wait, whatever the word holds: what it means is the caller's affair. */
static bool is_over(const struct futex_waiter *me)
{
	return me->base.woken || changed(me);
}

static enum iw_seen look(struct iw_waiter *base)
{
	return is_over((const struct futex_waiter *)base) ? IW_THERE : IW_AWAY;
}

static struct iw_rest settle(struct iw_waiter *base)
{
	const struct futex_waiter *me = (const struct futex_waiter *)base;

	return is_over(me) ? iw_rest_taken() : iw_rest_on(base->futex, me->expected);
}

/* Not resumable: a wake that changes nothing would be lost on a waiter that is up. */
static const struct iw_waitable futex_waitable = {
	.kind = IPCWAIT_KIND_FUTEX,
	.look = look,
	.settle = settle,
};

/* 0, or the error of @call if it cannot use these. @w may be NULL. */
static int check(const uint32_t *word, const struct ipcwait_window *w, unsigned flags,
		 unsigned known_flags, const char *call)
{
	const char *what = NULL;

	if (!word)
		what = IW_NULL;
	else if ((uintptr_t)word % sizeof(*word))
		what = IW_MISALIGNED;
	else if ((uintptr_t)w % 8)
		what = "misaligned window";
	else if (flags & ~known_flags)
		what = IW_UNKNOWN_FLAGS;
	return what ? iw_misuse(-EINVAL, IPCWAIT_KIND_FUTEX, word, call, what) : 0;
}

/* Without a window: at once, and again only after a signal handler. */
static int sleep_on_it(struct futex_waiter *me)
{
	struct iw_rest rest = iw_rest_on(me->base.futex, me->expected);
	bool interrupted = false;
	int r;

	while ((r = iw_sleep_as(&me->base, &rest, me->base.deadline_ns)) == -EINTR &&
	       !me->base.interruptible)
		interrupted = true;
	return interrupted && r == -EAGAIN ? 0 : r;
}

int ipcwait_futex_wait(uint32_t *word, uint32_t expected, int64_t deadline_ns,
		       struct ipcwait_window *w, unsigned flags)
{
	struct futex_waiter me = {
		.base = {
			.what = &futex_waitable,
			.window = w,
			.futex = word,
			.deadline_ns = deadline_ns,
			.site = IW_CALL_SITE,
			.private_ = flags & IPCWAIT_PRIVATE,
			.interruptible = flags & IPCWAIT_INTERRUPTIBLE,
		},
		.word = (const struct ipcwait_word32 *)word,
		.expected = expected,
	};

	int r = check(word, w, flags, IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE,
		      "ipcwait_futex_wait");

	if (r)
		return r;
	if (!w && (deadline_ns == IPCWAIT_FOREVER || deadline_ns > iw_clock_ns()))
		return sleep_on_it(&me);
	if (changed(&me))
		return -EAGAIN;
	return w ? iw_wait(&me.base) : -ETIMEDOUT;
}

int ipcwait_futex_wake(uint32_t *word, unsigned count, unsigned flags)
{
	int r = check(word, NULL, flags, IPCWAIT_PRIVATE, "ipcwait_futex_wake");

	if (r)
		return r;
	/* futex(2) wakes one if asked for none. */
	if (count == 0)
		return 0;
	return iw_wake(IPCWAIT_KIND_FUTEX, word, count, flags & IPCWAIT_PRIVATE,
		       (uint64_t)iw_clock_ns());
}

void ipcwait_window_stamp(struct ipcwait_window *w)
{
	(void)iw_stamp(w);
}
