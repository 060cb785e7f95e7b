/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/futex_waitv.h"
#include "os/seam.h"
#include "engine/sleep.h"
#include "engine/wait.h"
#include "watch/stats.h"

/*
 * 1: do not ask again. The other answer is not kept: a process may shut itself in behind a
 * filter at any time.
 */
static struct ipcwait_word32 absent;

/* The kernel knows no time before its own beginning. */
static int64_t not_negative(int64_t deadline_ns)
{
	return deadline_ns < 0 ? 0 : deadline_ns;
}

int iw_sleep_once(enum ipcwait_kind kind, const uint32_t *futex, uint32_t expected,
		  int64_t deadline_ns, bool private_)
{
	iw_count(kind, IW_FUTEX_WAITS, 1);
	return iw_futex_wait(futex, expected, not_negative(deadline_ns), private_);
}

bool iw_sleeps_on_several(void)
{
	/* ORD sleep.X1: relaxed, hint: whoever does not know yet finds out. */
	return !ipcwait_impl_load32_relaxed(&absent);
}

static int sleep_on_several(enum ipcwait_kind kind, const struct iw_waitv *words,
			    unsigned n, int64_t until_ns)
{
	int r;

	iw_count(kind, IW_FUTEX_WAITS, 1);
	r = iw_futex_waitv(words, n, not_negative(until_ns));
	if (r != -ENOSYS && r != -EPERM)
		return r;
	/* ORD sleep.X2: relaxed, hint, as sleep.X1. */
	ipcwait_impl_store32_relaxed(&absent, 1);
	return -EAGAIN;
}

/* What is not published sleeps where nobody wakes it: it could take another sleeper's wake. */
static int sleep_unpublished(enum ipcwait_kind kind, int64_t until_ns)
{
	uint32_t nobody = 0;

	return iw_sleep_once(kind, &nobody, 0, until_ns, true);
}

int iw_sleep_as(struct iw_waiter *me, const struct iw_rest *rest, int64_t until_ns)
{
	enum ipcwait_kind kind = me->what->kind;

	if (me->sleep) {
		iw_count(kind, IW_FUTEX_WAITS, 1);
		return me->sleep(me, rest, until_ns);
	}
	/* After a handler with SA_RESTART the kernel goes on with a sleep that has no end. */
	if (me->interruptible && until_ns == IPCWAIT_FOREVER)
		until_ns--;
	if (rest->n > 1)
		return sleep_on_several(kind, rest->several, rest->n, until_ns);
	if (!rest->word)
		return sleep_unpublished(kind, until_ns);
	if (!rest->bits)
		return iw_sleep_once(kind, rest->word, rest->expected, until_ns,
				     me->private_);
	iw_count(kind, IW_FUTEX_WAITS, 1);
	return iw_futex_wait_bits(rest->word, rest->expected, not_negative(until_ns),
				  me->private_, rest->bits);
}
