/* SPDX-License-Identifier: MIT */
#include "os/cpu.h"
#include "os/probes.h"
#include "os/seam.h"
#include "policy/cost.h"
#include "watch/stats.h"
#include "engine/wake.h"
#include "policy/window.h"

/*
 * How long a wake may be under way before it is doubted, in ns: twenty times the slowest
 * wake-up of an idle CPU on the project's guest. One that queues for a CPU may take longer;
 * doubting it costs a needless wake per millisecond.
 */
#define WAKE_FRESH_NS 1000000

/* Put also where nothing is learned from it: iw_stamp_fresh() depends on it. */
uint64_t iw_stamp(struct ipcwait_window *w)
{
	uint64_t now = iw_now_ns();

	iw_window_put_stamp(w, iw_clock_common(now), iw_cpu_current());
	iw_self()->stamped = w;
	return iw_self()->alone ? 0 : now;
}

bool iw_stamp_fresh(const struct ipcwait_window *w)
{
	uint64_t age_ns;

	return iw_window_stamp_age(w, iw_clock_common(iw_now_ns()), WAKE_FRESH_NS, &age_ns);
}

/*
 * Every fourth wake is timed, and the first ones all: the clock costs as much as the rest of the
 * book-keeping.
 */
static void learn_from_wake(uint64_t stamped_at, unsigned woken)
{
	struct iw_thread *self = iw_self();

	self->woke_at = stamped_at;
	if (self->wakes < 4 || self->wakes % 4 == 0)
		iw_cost_note_waker((iw_now_ns() - stamped_at) / woken);
	self->wakes++;
}

static int count_wake(enum ipcwait_kind kind, int woken, uint64_t stamped_at)
{
	iw_count(kind, IW_FUTEX_WAKES, 1);
	if (woken > 0 && stamped_at)
		learn_from_wake(stamped_at, (unsigned)woken);
	return woken;
}

void iw_note_wake(enum ipcwait_kind kind, int woken, uint64_t stamped_at)
{
	(void)count_wake(kind, woken, stamped_at);
}

int iw_wake(enum ipcwait_kind kind, const uint32_t *futex, uint32_t count, bool private_,
	    uint64_t stamped_at)
{
	int woken = iw_futex_wake(futex, count, private_);

	iw_probe_wake(futex, kind, woken);
	return count_wake(kind, woken, stamped_at);
}

int iw_wake_bits(enum ipcwait_kind kind, const uint32_t *futex, uint32_t count,
		 bool private_, uint32_t bits, uint64_t stamped_at)
{
	int woken = iw_futex_wake_bits(futex, count, private_, bits);

	iw_probe_wake(futex, kind, woken);
	return count_wake(kind, woken, stamped_at);
}

void iw_leave_wake(struct iw_due_wake *due, enum ipcwait_kind kind, const uint32_t *futex,
		   bool private_, uint32_t bits)
{
	due->bits = bits;
	due->kind = kind;
	due->private_ = private_;
	due->left_ns = iw_now_ns();
	/* ORD wake.R1: release, so that a handler that finds it finds it whole. Pairs with
	 * wake.A1. */
	ipcwait_impl_storeptr_release(&due->futex, (void *)futex);
}

void iw_make_wake(struct iw_due_wake *due)
{
	/* ORD wake.A1: acquire, for a handler of the thread that left it. Pairs with wake.R1. */
	const uint32_t *futex = ipcwait_impl_loadptr_acquire(&due->futex);
	uint64_t now = iw_self()->alone ? 0 : iw_now_ns();

	/* A handler has made it meanwhile. */
	if (!futex)
		return;
	(void)iw_wake_bits(due->kind, futex, UINT32_MAX, due->private_, due->bits, now);
	/* ORD wake.X2: relaxed, no order needed: a handler that comes before it wakes too, so that
	 * it may wait for who is woken. */
	ipcwait_impl_storeptr_relaxed(&due->futex, NULL);
}
