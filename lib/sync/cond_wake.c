/* SPDX-License-Identifier: MIT */
/* Signals and broadcasts. The state table is in <ipcwait/cond.h>, the argument in
 * docs/design/cond.md. */
#include "sync/cond_wait.h"
#include "sync/cond_word.h"

#include "os/seam.h"
#include "sync/object.h"
#include "watch/stats.h"

/* Both words. */
struct both {
	uint64_t w, arrivals;
};

/*
 * SERVED only grows, so that if both are equal here nobody had a ticket when ISSUED was read;
 * and whoever has left a mark in @w had its ticket before.
 */
static struct both load_both(const struct ipcwait_cond *c)
{
	struct both b;

	/* ORD cond_wake.A1: acquire, so that ISSUED is not older than SERVED and its marks. Pairs
	 * with cond_wake.R2, cond_wake.R3 and cond.R1. */
	b.w = ipcwait_impl_load64_acquire(&c->word);
	/* ORD cond_wake.X1: relaxed, re-checked by the CAS that takes SPINNER, or protected by
	 * that of the word, which is no older. */
	b.arrivals = ipcwait_impl_load64_relaxed(&c->arrivals);
	return b;
}

/* All in a class of @bits: at once, or when the caller makes the wake that is left in @due. */
static void wake(const struct iw_waker *waker, uint32_t bits, struct iw_due_wake *due)
{
	if (due)
		iw_leave_wake(due, waker->kind, waker->futex, waker->private_, bits);
	else
		(void)iw_waker_wake_bits(waker, UINT32_MAX, bits);
}

/*
 * Nobody waits but for a spinner, and somebody who did has not left for a while. If the one who
 * released it was killed before the system call it sleeps, until its alarm.
 */
static void rouse(struct ipcwait_cond *c, uint64_t arrivals)
{
	/* ORD cond_wake.X2: relaxed, hint: too small costs a system call per millisecond. */
	uint32_t out = ipcwait_impl_load32_relaxed(&c->out);
	struct iw_waker waker = iw_waker_on(&cond_layout, c);

	if (arrivals & COND_SPINNER)
		out++;
	if (waker.private_ || !iw_waker_doubts(&waker, !cond_all_out(out, arrivals)))
		return;
	iw_waker_stamp(&waker, true);
	wake(&waker, UINT32_MAX, NULL);
}

/* s -> s+1, and over those behind who are gone. With GONE full nobody knows: everybody. */
static uint64_t pass_one(struct both b)
{
	uint64_t next;

	if (cond_gone(b.w) == COND_GONE_FULL)
		return cond_pass_all(b.w, b.arrivals);
	next = cond_skip(cond_pass(b.w, 1));
	/* Nobody is left of whom GONE or DEEP could tell. */
	return (uint32_t)next == cond_issued(b.arrivals) ? next & COND_SERVED_MASK : next;
}

/* Release the oldest ticket and wake its holder. False if somebody else was faster. */
static bool release_one(struct ipcwait_cond *c, struct both b, struct iw_due_wake *due)
{
	bool all = cond_gone(b.w) == COND_GONE_FULL;
	struct iw_waker waker = iw_waker_on(&cond_layout, c);
	uint32_t bits = all ? UINT32_MAX : cond_class(b.w);

	iw_waker_stamp(&waker, true);
	/* ORD cond_wake.R2: release on success, to whom it serves. Pairs with cond.A2, cond.A4,
	 * cond.A5, cond_wait.A1 and cond_wake.A1. */
	if (!ipcwait_impl_cas64_release(&c->word, &b.w, pass_one(b)))
		return false;
	/* From here on the waiter may have gone, and the condition variable with it. */
	wake(&waker, bits, due);
	return true;
}

/* True if the spinner of @b has been released. */
static bool release_spinner(struct ipcwait_cond *c, struct both b)
{
	/* ORD cond_wake.R1: release on success, to the spinner. Pairs with cond.A1 and cond.A3. */
	return ipcwait_impl_cas64_release(&c->arrivals, &b.arrivals,
					  b.arrivals & ~COND_SPINNER);
}

void iw_cond_signal_due(struct ipcwait_cond *c, struct iw_due_wake *due)
{
	for (;;) {
		struct both b = load_both(c);
		uint32_t waiting = cond_waiting(b.w, b.arrivals);

		if (b.arrivals & COND_SPINNER) {
			if (!release_spinner(c, b))
				continue;
			if (waiting)
				iw_count(IPCWAIT_KIND_COND, IW_WAKES_AVOIDED, 1);
			return;
		}
		if (!waiting) {
			rouse(c, b.arrivals);
			return;
		}
		if (release_one(c, b, due))
			return;
	}
}

int ipcwait_cond_signal(struct ipcwait_cond *c)
{
	int r = iw_check(&cond_layout, c, "ipcwait_cond_signal");

	if (r)
		return r;
	iw_cond_signal_due(c, NULL);
	return 0;
}

/* s -> i. False if somebody else was faster. */
static bool release_all(struct ipcwait_cond *c, struct both b, struct iw_waker *waker)
{
	iw_waker_stamp(waker, true);
	/* ORD cond_wake.R3: release on success, as cond_wake.R2. Pairs with cond.A2, cond.A4,
	 * cond.A5, cond_wait.A1 and cond_wake.A1. */
	return ipcwait_impl_cas64_release(&c->word, &b.w, cond_pass_all(b.w, b.arrivals));
}

void iw_cond_release_tickets(struct ipcwait_cond *c)
{
	struct iw_waker waker = iw_waker_on(&cond_layout, c);

	if (release_all(c, load_both(c), &waker))
		wake(&waker, UINT32_MAX, NULL);
}

/*
 * s -> i, then SPINNER 1 -> 0: as a broadcast, for nobody, and all of them are out. Only signals
 * change the words meanwhile.
 */
void iw_cond_forget(void *o)
{
	struct ipcwait_cond *c = o;
	struct both b = load_both(c);

	/* ORD cond_wake.X3: relaxed, no order needed, as copy.X2. */
	while (!ipcwait_impl_cas64_relaxed(&c->word, &b.w, cond_pass_all(b.w, b.arrivals)))
		b = load_both(c);
	/* ORD cond_wake.X4: relaxed, no order needed, as copy.X2. */
	while (!ipcwait_impl_cas64_relaxed(&c->arrivals, &b.arrivals,
					   b.arrivals & ~COND_SPINNER))
		continue;
	/* ORD cond_wake.X5: relaxed, no order needed, as copy.X2. */
	ipcwait_impl_store32_relaxed(&c->out, cond_entries(b.arrivals));
}

/*
 * The spinner comes last. While it waits the condition variable cannot go, and if it takes a
 * ticket before it is released, the next round serves that.
 */
void iw_cond_broadcast_due(struct ipcwait_cond *c, struct iw_due_wake *due)
{
	struct iw_waker waker = iw_waker_on(&cond_layout, c);
	bool asleep = false;

	for (;;) {
		struct both b = load_both(c);

		if (cond_waiting(b.w, b.arrivals)) {
			if (!release_all(c, b, &waker))
				continue;
			asleep = true;
		} else if (!asleep) {
			rouse(c, b.arrivals);
		}
		if (!(b.arrivals & COND_SPINNER) || release_spinner(c, b))
			break;
	}
	/* From here on the waiters may have gone, and the condition variable with them. */
	if (asleep)
		wake(&waker, UINT32_MAX, due);
}

int ipcwait_cond_broadcast(struct ipcwait_cond *c)
{
	int r = iw_check(&cond_layout, c, "ipcwait_cond_broadcast");

	if (r)
		return r;
	iw_cond_broadcast_due(c, NULL);
	return 0;
}
