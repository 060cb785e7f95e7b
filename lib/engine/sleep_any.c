/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/seam.h"
#include "engine/sleep_any.h"
#include "watch/stats.h"

/*
 * 1: do not ask again. The other answer is not kept: a process may shut itself in behind a
 * filter at any time.
 */
static struct ipcwait_word32 absent;

bool iw_sleeps_on_several(void)
{
	/* ORD sleep_any.X1: relaxed, hint: whoever does not know yet finds out. */
	return !ipcwait_impl_load32_relaxed(&absent);
}

int iw_sleep_on_several(enum ipcwait_kind kind, const struct iw_waitv *words, unsigned n,
			int64_t deadline_ns)
{
	int r;

	iw_count(kind, IW_FUTEX_WAITS, 1);
	r = iw_futex_waitv(words, n, deadline_ns);
	if (r != -ENOSYS && r != -EPERM)
		return r;
	/* ORD sleep_any.X2: relaxed, hint, as sleep_any.X1. */
	ipcwait_impl_store32_relaxed(&absent, 1);
	return -EAGAIN;
}
