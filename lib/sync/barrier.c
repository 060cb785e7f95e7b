/* SPDX-License-Identifier: MIT */
/* The state table is in <ipcwait/barrier.h>, the argument in docs/design/gates.md. */
#include <errno.h>

#include <ipcwait/barrier.h>

#include "os/seam.h"
#include "sync/copy.h"
#include "sync/object.h"

IW_ASSERT_LAYOUT(struct ipcwait_barrier, 32);

#define ROUND_MASK   UINT64_C(0xffffffff)
#define SLEEPS       (UINT64_C(1) << 32)
#define ARRIVED_ONE  (UINT64_C(1) << 33)
#define ARRIVED_MASK (UINT64_C(0x7fff) << 33)
#define LEAVING_ONE  (UINT64_C(1) << 48)
#define LEAVING_MASK (UINT64_C(0xffff) << 48)

/*
 * How long the end of a barrier waits for those on their way out, in ns. They are awake and need
 * some microseconds, or a few ms where they queue for a CPU; who needs longer is stopped or dead.
 */
#define LEAVE_MOST_NS 1000000000

static uint64_t arrived(uint64_t w)
{
	return (w & ARRIVED_MASK) / ARRIVED_ONE;
}

static uint32_t round_of(uint64_t w)
{
	return (uint32_t)(w & ROUND_MASK);
}

static const struct iw_layout layout = {
	.kind = IPCWAIT_KIND_BARRIER,
	.known_flags = IPCWAIT_PRIVATE,
	.flags = offsetof(struct ipcwait_barrier, flags),
	.flags_bytes = 2,
	.note = offsetof(struct ipcwait_barrier, reserved),
	.generation = IW_NOTE_GENERATION,
	.lasting = ROUND_MASK,
};

/* One thread in one wait. */
struct barrier_waiter {
	struct iw_waiter base;
	struct ipcwait_barrier *barrier;
	uint32_t round; /* in which it has arrived */
};

/* The word, and what happened before the end of the round if that is over. */
static uint64_t read_word(const struct barrier_waiter *me)
{
	/*
	 * ORD barrier.A1: acquire, so that a party whose round is over sees what all parties did
	 * before. Pairs with barrier.R1, directly or through the read-modify-writes in between,
	 * which continue its release sequence.
	 */
	return ipcwait_impl_load64_acquire(&me->barrier->word);
}

static enum iw_seen look(struct iw_waiter *base)
{
	const struct barrier_waiter *me = (const struct barrier_waiter *)base;

	return round_of(read_word(me)) != me->round ? IW_THERE : IW_AWAY;
}

/*
 * SLEEPS 0 -> 1. The futex is the round alone, so nobody is kept from sleep by others who arrive
 * or go to sleep.
 */
static struct iw_rest settle(struct iw_waiter *base)
{
	const struct barrier_waiter *me = (const struct barrier_waiter *)base;
	uint64_t w;

	do {
		w = read_word(me);
		if (round_of(w) != me->round)
			return iw_rest_taken();
		/*
		 * ORD barrier.X1: relaxed, no order needed: sleeper and round are in one word,
		 * so either this CAS sees the end of the round or that sees the sleeper.
		 */
	} while (!(w & SLEEPS) &&
		 !ipcwait_impl_cas64_relaxed(&me->barrier->word, &w, w | SLEEPS));
	return iw_rest_on((const uint32_t *)&me->barrier->word, me->round);
}

/* The arrival stays: the engine may only want to look on for a while. See take_back(). */
static const struct iw_waitable barrier_waitable = {
	.kind = IPCWAIT_KIND_BARRIER,
	.resumable = true,
	.look = look,
	.settle = settle,
};

/* r,a -> r,a+1, or r,a,l -> r+1,0,l+a for the last. Returns the word before. */
static uint64_t arrive(struct ipcwait_barrier *b, uint32_t parties, struct iw_waker *waker)
{
	/* ORD barrier.X2: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&b->word);

	for (;;) {
		uint64_t next = (w & LEAVING_MASK) | ((w + 1) & ROUND_MASK);
		bool last = arrived(w) + 1 >= parties;

		iw_waker_stamp(waker, last && w & SLEEPS);
		next = last ? next + arrived(w) * LEAVING_ONE : w + ARRIVED_ONE;
		/*
		 * ORD barrier.R1: release, so that all parties see what this one did before.
		 * Pairs with barrier.A1, barrier.A2 and barrier.A3.
		 * ORD barrier.A2: acquire, which the last party needs: it looks no more. Pairs
		 * with barrier.R1.
		 */
		if (ipcwait_impl_cas64_acq_rel(&b->word, &w, next))
			return w;
	}
}

/* r,a -> r,a-1. False if the round is over. */
static bool take_back(const struct barrier_waiter *me)
{
	uint64_t w, next;

	do {
		w = read_word(me);
		if (round_of(w) != me->round)
			return false;
		next = w - (w & ARRIVED_MASK ? ARRIVED_ONE : 0);
		/* Nobody else of this round is there: nobody sleeps. */
		if (!(next & ARRIVED_MASK))
			next &= ~SLEEPS;
		/*
		 * ORD barrier.R3: release, as barrier.R2: this is the last access of one who
		 * gives up. Pairs with barrier.A3.
		 */
	} while (!ipcwait_impl_cas64_release(&me->barrier->word, &w, next));
	return true;
}

/* l -> l-1, the party's last access. */
static void leave(struct ipcwait_barrier *b)
{
	/*
	 * ORD barrier.R2: release, so that who ends the barrier frees it after all that this
	 * party did to it. Pairs with barrier.A3.
	 */
	(void)ipcwait_impl_add64_release(&b->word, -LEAVING_ONE);
}

static int wait_for_others(struct ipcwait_barrier *b, uint32_t round, int64_t deadline_ns,
			   uintptr_t site)
{
	struct barrier_waiter me = { .barrier = b, .round = round };
	int r;

	iw_waiter_begin(&me.base, &layout, b, &barrier_waitable, deadline_ns, site);
	r = iw_wait(&me.base);
	if (r && take_back(&me))
		return r;
	leave(b);
	return 0;
}

static bool fits(uint32_t parties)
{
	return parties && parties <= IPCWAIT_BARRIER_PARTIES_MAX;
}

static int wait_until(struct ipcwait_barrier *b, int64_t deadline_ns, uintptr_t site,
		      const char *call)
{
	int r = iw_check(&layout, b, call);
	struct iw_waker waker;
	uint32_t parties;
	uint64_t before;

	if (r)
		return r;
	parties = b->parties;
	if (!fits(parties))
		return iw_misuse(-EINVAL, layout.kind, b, call, IW_OUT_OF_RANGE);
	iw_copy_mend(&layout, b);
	waker = iw_waker_on(&layout, b);
	before = arrive(b, parties, &waker);
	if (arrived(before) + 1 < parties)
		return wait_for_others(b, round_of(before), deadline_ns, site);
	/* From here on another party may have ended and freed the barrier. */
	if (before & SLEEPS)
		iw_waker_wake(&waker, UINT32_MAX);
	return IPCWAIT_BARRIER_SERIAL;
}

int ipcwait_barrier_wait(struct ipcwait_barrier *b)
{
	return wait_until(b, IPCWAIT_FOREVER, IW_CALL_SITE, "ipcwait_barrier_wait");
}

int ipcwait_barrier_wait_until(struct ipcwait_barrier *b, int64_t deadline_ns)
{
	return wait_until(b, deadline_ns, IW_CALL_SITE, "ipcwait_barrier_wait_until");
}

int ipcwait_barrier_init(struct ipcwait_barrier *b, uint32_t parties, unsigned flags)
{
	struct ipcwait_barrier fresh = IPCWAIT_BARRIER_INIT(parties);
	int r = iw_check_init(&layout, b, flags, fits(parties), "ipcwait_barrier_init");

	if (r)
		return r;
	fresh.flags = (uint16_t)flags;
	fresh.reserved = iw_copy_new(&layout, b, flags);
	*b = fresh;
	return 0;
}

/* Who ends the barrier waits for this. */
static bool all_have_left(const struct ipcwait_barrier *b)
{
	/*
	 * ORD barrier.A3: acquire, so that the caller may free what others have touched. Pairs
	 * with barrier.R1, barrier.R2 and barrier.R3.
	 */
	return !(ipcwait_impl_load64_acquire(&b->word) & LEAVING_MASK);
}

static enum iw_seen look_at_end(struct iw_waiter *base)
{
	return all_have_left(((const struct barrier_waiter *)base)->barrier) ? IW_THERE
									     : IW_AWAY;
}

/*
 * There is no sleeper to publish: those who leave would have to look for it, each time, for the
 * sake of an end that comes once.
 */
static struct iw_rest settle_at_end(struct iw_waiter *base)
{
	return look_at_end(base) == IW_THERE ? iw_rest_taken() : iw_rest_unpublished();
}

static const struct iw_waitable end_waitable = {
	.kind = IPCWAIT_KIND_BARRIER,
	.look = look_at_end,
	.settle = settle_at_end,
};

static int wait_for_leavers(struct ipcwait_barrier *b)
{
	/* Nothing to be learned for rounds, and nothing is that a dying object has learned. */
	struct ipcwait_window unknown = { 0 };
	struct barrier_waiter me = { .barrier = b };
	int r;

	if (all_have_left(b))
		return 0;
	iw_waiter_begin(&me.base, &layout, b, &end_waitable, iw_clock_ns() + LEAVE_MOST_NS,
			0);
	me.base.window = &unknown;
	r = iw_wait(&me.base);
	return r == -ETIMEDOUT ? -EBUSY : r;
}

int ipcwait_barrier_fini(struct ipcwait_barrier *b)
{
	int r = iw_check(&layout, b, "ipcwait_barrier_fini");

	if (r)
		return r;
	iw_copy_mend(&layout, b);
	/* ORD barrier.X3: relaxed, protected by the caller: nobody begins another wait. */
	if (ipcwait_impl_load64_relaxed(&b->word) & ARRIVED_MASK)
		return -EBUSY;
	r = wait_for_leavers(b);
	if (r == 0)
		b->flags = (uint16_t)IW_FLAGS_FINISHED;
	return r;
}
