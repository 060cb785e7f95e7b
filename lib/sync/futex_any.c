/* SPDX-License-Identifier: MIT */
/* Raw words as objects of a wait for any of several, lib/sync/any.h. Nothing is counted in them,
 * and what they mean is the caller's affair. */
#include <alloca.h>
#include <errno.h>

#include <ipcwait/futex.h>
#include <ipcwait/wait_any.h>

#include "os/seam.h"
#include "sync/any.h"
#include "watch/misuse.h"
#include "engine/wake.h"

static int any_begin(const struct ipcwait_waitable *o, struct iw_any_state *state,
		     const char *call)
{
	(void)state;
	if ((uintptr_t)o->object % sizeof(struct ipcwait_word32))
		return iw_misuse(-EINVAL, IPCWAIT_KIND_FUTEX, o->object, call,
				 IW_MISALIGNED);
	if (o->expected > UINT32_MAX)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_FUTEX, o->object, call,
				 IW_OUT_OF_RANGE);
	return 0;
}

static bool differs(const struct ipcwait_waitable *o)
{
	const struct ipcwait_word32 *word = o->object;

	/* ORD futex_any.X1: relaxed, no order promised: the caller loads the word again. */
	return ipcwait_impl_load32_relaxed(word) != (uint32_t)o->expected;
}

static bool any_take(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	(void)state;
	return differs(o);
}

static struct iw_rest any_announce(const struct ipcwait_waitable *o,
				   struct iw_any_state *state)
{
	(void)state;
	return differs(o) ? iw_rest_taken() : iw_rest_on(o->object, (uint32_t)o->expected);
}

/* Sleepers who wait for another value than this are to look: one of them may have been meant. */
static void any_retract(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	(void)state;
	if (differs(o))
		(void)iw_wake(IPCWAIT_KIND_WAIT_ANY, o->object, 1,
			      o->flags & IPCWAIT_PRIVATE, 0);
}

const struct iw_any_kind iw_any_futex = {
	.begin = any_begin,
	.take = any_take,
	.announce = any_announce,
	.withdraw = any_take,
	.retract = any_retract,
};

int ipcwait_futex_wait_any(struct ipcwait_futex_waiter *set, unsigned n,
			   int64_t deadline_ns)
{
	int r = iw_wait_any_check(set, n, "ipcwait_futex_wait_any");
	struct ipcwait_waitable *words;

	if (r)
		return r;
	words = alloca(n * sizeof(*words));
	for (unsigned i = 0; i < n; i++)
		words[i] = (struct ipcwait_waitable){
			.type = IPCWAIT_WAITABLE_FUTEX,
			.flags = set[i].flags,
			.object = set[i].word,
			.expected = set[i].expected,
		};
	return iw_wait_any(words, n, deadline_ns, NULL, IW_CALL_SITE,
			   "ipcwait_futex_wait_any");
}
