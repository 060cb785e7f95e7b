/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/futex_waitv.h"
#include "os/life.h"
#include "os/seam.h"
#include "engine/sleep.h"
#include "engine/wait.h"
#include "policy/policy.h"
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

/*
 * Sleepers that nobody wakes. The high half is the generation of the process: a child of fork(2)
 * has none of its parent's threads.
 */
static struct ipcwait_word64 unpublished;

#define GENERATION_BITS 32

static uint32_t sleepers(uint64_t w, uint32_t generation)
{
	return w >> GENERATION_BITS == generation ? (uint32_t)w : 0;
}

uint32_t iw_sleepers_unpublished(void)
{
	/* ORD sleep.X3: relaxed, hint: how often to look. */
	return sleepers(ipcwait_impl_load64_relaxed(&unpublished), iw_process_generation());
}

int64_t iw_sleep_look_ns(const struct iw_waiter *me, const struct iw_rest *rest)
{
	if (!rest->word)
		return iw_policy_look_ns(me->alarm_ns, iw_sleepers_unpublished() + 1);
	return me->mortal && rest->until_ns == IPCWAIT_FOREVER
		       ? iw_policy_alarm_ns(me->alarm_ns)
		       : 0;
}

/* One more, or one less. */
static void count_sleeper(bool more)
{
	uint32_t generation = iw_process_generation(), n;
	/* ORD sleep.X4: relaxed, re-checked by the CAS. */
	uint64_t w = ipcwait_impl_load64_relaxed(&unpublished), after;

	do {
		n = sleepers(w, generation);
		n = more ? n + 1 : n ? n - 1 : 0;
		after = (uint64_t)generation << GENERATION_BITS | n;
		/* ORD sleep.X5: relaxed, hint, as sleep.X3. */
	} while (!ipcwait_impl_cas64_relaxed(&unpublished, &w, after));
}

/* What is not published sleeps where nobody wakes it: it could take another sleeper's wake. */
static int sleep_unpublished(enum ipcwait_kind kind, int64_t until_ns)
{
	uint32_t nobody = 0;
	int r;

	count_sleeper(true);
	r = iw_sleep_once(kind, &nobody, 0, until_ns, true);
	count_sleeper(false);
	return r;
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
