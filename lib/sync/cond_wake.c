/* SPDX-License-Identifier: MIT */
/* Signals and broadcasts. The state table is in <ipcwait/cond.h>, the argument in
 * docs/design/cond.md. */
#include "sync/cond_word.h"

#include "env/facts.h"
#include "os/seam.h"
#include "policy/ablation.h"
#include "policy/cost.h"
#include "sync/object.h"
#include "watch/stats.h"

/*
 * A broadcast that would keep its caller in the kernel for more than so many block/wake pairs
 * wakes one sleeper for each CPU, and each of them, when it runs, another one. On 2 CPUs a chain
 * took 127 us with 16 waiters, and all at once 101; with 64 waiters, and a caller that holds the
 * mutex, 370 to 520 us, and all at once 890 to 1600 (condvar/op:broadcast/waiters:64).
 */
#define CHAIN_BLOCKS 6

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

/* Everybody in a class of @bits. Returns how many. */
static int wake(const struct iw_waker *waker, uint32_t bits)
{
	return iw_waker_wake_bits(waker, UINT32_MAX, bits);
}

/*
 * Nobody waits, but somebody who did has not left for a while. If the one who released it was
 * killed before the system call it sleeps, and nobody else would wake it.
 */
static void rouse(struct ipcwait_cond *c, uint64_t arrivals)
{
	/* ORD cond_wake.X2: relaxed, hint: too small costs a system call per millisecond. */
	uint32_t out = ipcwait_impl_load32_relaxed(&c->out);
	struct iw_waker waker = iw_waker_on(&cond_layout, c);

	if (waker.private_ || !iw_waker_doubts(&waker, !cond_all_out(out, arrivals)))
		return;
	iw_waker_stamp(&waker, true);
	(void)wake(&waker, UINT32_MAX);
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
static bool release_one(struct ipcwait_cond *c, struct both b)
{
	bool all = cond_gone(b.w) == COND_GONE_FULL;
	struct iw_waker waker = iw_waker_on(&cond_layout, c);
	uint32_t bits = all ? UINT32_MAX : cond_class(b.w);

	iw_waker_stamp(&waker, true);
	/* ORD cond_wake.R2: release on success, to whom it serves. Pairs with cond.A2, cond.A4,
	 * cond.A5 and cond_wake.A1. */
	if (!ipcwait_impl_cas64_release(&c->word, &b.w, pass_one(b)))
		return false;
	/* From here on the waiter may have gone, and the condition variable with it. */
	(void)wake(&waker, bits);
	return true;
}

/* True if the spinner of @b has been released. */
static bool release_spinner(struct ipcwait_cond *c, struct both b)
{
	/* ORD cond_wake.R1: release on success, to the spinner. Pairs with cond.A1 and cond.A3. */
	return ipcwait_impl_cas64_release(&c->arrivals, &b.arrivals,
					  b.arrivals & ~COND_SPINNER);
}

int ipcwait_cond_signal(struct ipcwait_cond *c)
{
	int r = iw_check(&cond_layout, c, "ipcwait_cond_signal");

	if (r)
		return r;
	for (;;) {
		struct both b = load_both(c);
		uint32_t waiting = cond_waiting(b.w, b.arrivals);

		if (b.arrivals & COND_SPINNER) {
			if (!release_spinner(c, b))
				continue;
			if (waiting)
				iw_count(IPCWAIT_KIND_COND, IW_WAKES_AVOIDED, 1);
			return 0;
		}
		if (!waiting) {
			rouse(c, b.arrivals);
			return 0;
		}
		if (release_one(c, b))
			return 0;
	}
}

/* How many of @n sleepers a broadcast wakes itself. */
static uint32_t first_links(const struct ipcwait_cond *c, uint32_t n)
{
	const struct iw_facts *facts = iw_facts_known();
	uint64_t block_ns, waker_ns;

	if (!(c->flags & IPCWAIT_PRIVATE) || !facts || iw_without(IW_CHAIN))
		return n;
	block_ns = iw_cost_block_ns(facts, IPCWAIT_ADAPTIVE);
	waker_ns = block_ns - iw_cost_latency_ns(facts);
	if (n * waker_ns <= CHAIN_BLOCKS * block_ns || facts->cpus > COND_CHAIN_FIRST)
		return n;
	return facts->cpus < n ? facts->cpus : n;
}

/*
 * The classes that a broadcast wakes itself. If that is not all, the chain is ready for the rest
 * before anybody can have been released: NEXT is beyond SERVED until then.
 */
static uint32_t begin_chain(struct ipcwait_cond *c, struct both b)
{
	uint32_t n = cond_waiting(b.w, b.arrivals), first = first_links(c, n), bits = 0;
	uint32_t chain = 0, next = ((uint32_t)b.w + first) * COND_CHAIN_ONE | COND_CHAIN_ON;

	/* ORD cond_wake.X3: relaxed, protected by cond_wake.R3, which the woken have acquired. */
	if (first == n || !ipcwait_impl_cas32_relaxed(&c->chain, &chain, next))
		return UINT32_MAX;
	for (uint32_t i = 0; i < first && i < 32; i++)
		bits |= cond_class(b.w + i);
	return bits;
}

/* The chain as it is when the ticket of *@link is taken from it; 0 if there is none, or not yet. */
static uint32_t take_link(struct ipcwait_cond *c, uint32_t *link)
{
	/* ORD cond_wake.X4: relaxed, re-checked by the CAS below. */
	uint32_t chain = ipcwait_impl_load32_relaxed(&c->chain), ahead, next;
	/* ORD cond_wake.X5: relaxed, hint: what began the chain was acquired before. */
	uint64_t w = ipcwait_impl_load64_relaxed(&c->word);

	do {
		ahead = cond_chain_ahead(chain, w);
		if (!chain || (ahead && ahead <= COND_CHAIN_FIRST))
			return 0;
		*link = chain;
		next = ahead ? chain + COND_CHAIN_ONE : 0;
		/* ORD cond_wake.X6: relaxed, no order needed: a wake tells nothing. */
	} while (!ipcwait_impl_cas32_relaxed(&c->chain, &chain, next));
	return next;
}

/*
 * As long as a chain is on, somebody who was woken in it has not yet been here, or whoever began
 * it has not yet woken anybody: each wake reaches somebody who comes here, or else everybody is
 * woken, and the chain is over.
 */
void iw_cond_wake_next(struct ipcwait_cond *c)
{
	struct iw_waker waker = iw_waker_on(&cond_layout, c);
	uint32_t link, rest = take_link(c, &link);

	iw_waker_stamp(&waker, rest);
	if (!rest || wake(&waker, cond_class(link / COND_CHAIN_ONE)) > 0)
		return;
	/* ORD cond_wake.X7: relaxed, no order needed, as cond_wake.X6. If others have taken
	 * links meanwhile, they go on with it. */
	(void)ipcwait_impl_cas32_relaxed(&c->chain, &rest, 0);
	(void)wake(&waker, UINT32_MAX);
}

/* s -> i. What it has to wake, 0 if somebody else was faster. */
static uint32_t release_all(struct ipcwait_cond *c, struct both b, struct iw_waker *waker)
{
	uint32_t bits = begin_chain(c, b);

	iw_waker_stamp(waker, true);
	/* ORD cond_wake.R3: release on success, as cond_wake.R2. Pairs with cond.A2, cond.A4,
	 * cond.A5 and cond_wake.A1. */
	return ipcwait_impl_cas64_release(&c->word, &b.w, cond_pass_all(b.w, b.arrivals))
		       ? bits
		       : 0;
}

/* Wakes all in @bits; more, if that reached nobody who could go on with the chain. */
static void wake_released(const struct iw_waker *waker, uint32_t bits)
{
	if (wake(waker, bits) <= 0 && bits != UINT32_MAX)
		(void)wake(waker, UINT32_MAX);
}

void iw_cond_release_tickets(struct ipcwait_cond *c)
{
	struct iw_waker waker = iw_waker_on(&cond_layout, c);
	uint32_t bits = release_all(c, load_both(c), &waker);

	if (bits)
		wake_released(&waker, bits);
}

/*
 * The spinner comes last. While it waits the condition variable cannot go, and if it takes a
 * ticket before it is released, the next round serves that.
 */
int ipcwait_cond_broadcast(struct ipcwait_cond *c)
{
	int r = iw_check(&cond_layout, c, "ipcwait_cond_broadcast");
	struct iw_waker waker;
	uint32_t bits = 0;

	if (r)
		return r;
	waker = iw_waker_on(&cond_layout, c);
	for (;;) {
		struct both b = load_both(c);

		if (cond_waiting(b.w, b.arrivals)) {
			uint32_t more = release_all(c, b, &waker);

			if (!more)
				continue;
			/* A second round may find other tickets, also with a chain of their own. */
			bits = bits ? UINT32_MAX : more;
		} else if (!(b.arrivals & COND_SPINNER) && !bits) {
			rouse(c, b.arrivals);
		}
		if (!(b.arrivals & COND_SPINNER) || release_spinner(c, b))
			break;
	}
	/* From here on the waiters may have gone, and the condition variable with them. */
	if (bits)
		wake_released(&waker, bits);
	return 0;
}
