/* SPDX-License-Identifier: MIT */
/* The state table is in <ipcwait/barrier.h>, the argument in docs/design/gates.md. */
#include <errno.h>

#include <ipcwait/barrier.h>

#include "os/seam.h"
#include "watch/misuse.h"
#include "watch/stats.h"
#include "engine/wait.h"
#include "engine/wake.h"

_Static_assert(sizeof(struct ipcwait_barrier) == 32, "shared-memory layout 0");
_Static_assert(_Alignof(struct ipcwait_barrier) == 8, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_barrier, word) == 0, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_barrier, window) == 16, "shared-memory layout 0");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the futex is the low half");

#define ROUND_MASK   UINT64_C(0xffffffff)
#define SLEEPS       (UINT64_C(1) << 32)
#define ARRIVED_ONE  (UINT64_C(1) << 33)
#define ARRIVED_MASK (UINT64_C(0x7fff) << 33)
#define LEAVING_ONE  (UINT64_C(1) << 48)
#define LEAVING_MASK (UINT64_C(0xffff) << 48)

#define FINISHED_FLAGS UINT16_MAX

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

/* 0, or the error of @call if @b is none that this process can use. */
static int check(const struct ipcwait_barrier *b, const char *call)
{
	if (!b)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_BARRIER, b, call, IW_NULL);
	if ((uintptr_t)b % 8)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_BARRIER, b, call, IW_MISALIGNED);
	if (b->flags == FINISHED_FLAGS)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_BARRIER, b, call, IW_FINISHED);
	return iw_private_check(&b->reserved, IPCWAIT_KIND_BARRIER, b, call);
}

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

static bool look(struct iw_waiter *base)
{
	const struct barrier_waiter *me = (const struct barrier_waiter *)base;

	return round_of(read_word(me)) != me->round;
}

/*
 * SLEEPS 0 -> 1. The futex is the round alone, so nobody is kept from sleep by others who arrive
 * or go to sleep.
 */
static enum iw_settled settle(struct iw_waiter *base, uint32_t *expected)
{
	const struct barrier_waiter *me = (const struct barrier_waiter *)base;
	uint64_t w;

	*expected = me->round;
	do {
		w = read_word(me);
		if (round_of(w) != me->round)
			return IW_TAKEN;
		/*
		 * ORD barrier.X1: relaxed, no order needed: sleeper and round are in one word,
		 * so either this CAS sees the end of the round or that sees the sleeper.
		 */
	} while (!(w & SLEEPS) &&
		 !ipcwait_impl_cas64_relaxed(&me->barrier->word, &w, w | SLEEPS));
	return IW_SLEEP;
}

/* The arrival stays: the engine may only want to look on for a while. See take_back(). */
static const struct iw_waitable barrier_waitable = {
	.kind = IPCWAIT_KIND_BARRIER,
	.resumable = true,
	.restarts = true,
	.look = look,
	.settle = settle,
	.withdraw = look,
};

/* r,a -> r,a+1, or r,a,l -> r+1,0,l+a for the last. Returns the word before. */
static uint64_t arrive(struct ipcwait_barrier *b, uint32_t parties, uint64_t *stamped_ns)
{
	/* ORD barrier.X2: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&b->word);

	for (;;) {
		uint64_t next = (w & LEAVING_MASK) | ((w + 1) & ROUND_MASK);
		bool last = arrived(w) + 1 >= parties;

		if (last && w & SLEEPS && !*stamped_ns)
			*stamped_ns = iw_stamp(&b->window);
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

static int wait_for_others(struct ipcwait_barrier *b, uint32_t round, int64_t deadline_ns)
{
	struct barrier_waiter me = {
		.base = {
			.what = &barrier_waitable,
			.window = &b->window,
			.futex = (const uint32_t *)&b->word,
			.deadline_ns = deadline_ns,
			.private_ = b->flags & IPCWAIT_PRIVATE,
		},
		.barrier = b,
		.round = round,
	};
	int r = iw_wait(&me.base);

	if (r && take_back(&me))
		return r;
	leave(b);
	return 0;
}

static int wait_until(struct ipcwait_barrier *b, int64_t deadline_ns, const char *call)
{
	uint64_t stamped_ns = 0, before;
	int r = check(b, call);
	uint32_t parties;
	bool private_;

	if (r)
		return r;
	parties = b->parties;
	private_ = b->flags & IPCWAIT_PRIVATE;
	if (!parties || parties > IPCWAIT_BARRIER_PARTIES_MAX)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_BARRIER, b, call, IW_OUT_OF_RANGE);
	before = arrive(b, parties, &stamped_ns);
	if (arrived(before) + 1 < parties)
		return wait_for_others(b, round_of(before), deadline_ns);
	/* From here on another party may have ended and freed the barrier. */
	if (before & SLEEPS)
		(void)iw_wake(IPCWAIT_KIND_BARRIER, (const uint32_t *)&b->word, UINT32_MAX,
			      private_, stamped_ns);
	return IPCWAIT_BARRIER_SERIAL;
}

int ipcwait_barrier_wait(struct ipcwait_barrier *b)
{
	return wait_until(b, IPCWAIT_FOREVER, "ipcwait_barrier_wait");
}

int ipcwait_barrier_wait_until(struct ipcwait_barrier *b, int64_t deadline_ns)
{
	return wait_until(b, deadline_ns, "ipcwait_barrier_wait_until");
}

static int refuse_init(const struct ipcwait_barrier *b, uint32_t parties)
{
	const char *what = IW_UNKNOWN_FLAGS;

	if (!b)
		what = IW_NULL;
	else if ((uintptr_t)b % 8)
		what = IW_MISALIGNED;
	else if (!parties || parties > IPCWAIT_BARRIER_PARTIES_MAX)
		what = IW_OUT_OF_RANGE;
	return iw_misuse(-EINVAL, IPCWAIT_KIND_BARRIER, b, "ipcwait_barrier_init", what);
}

int ipcwait_barrier_init(struct ipcwait_barrier *b, uint32_t parties, unsigned flags)
{
	struct ipcwait_barrier fresh = IPCWAIT_BARRIER_INIT(parties);

	if (!b || (uintptr_t)b % 8 || !parties || parties > IPCWAIT_BARRIER_PARTIES_MAX ||
	    flags & ~IPCWAIT_PRIVATE)
		return refuse_init(b, parties);
	fresh.flags = (uint16_t)flags;
	fresh.reserved = iw_private_owner(flags);
	*b = fresh;
	return 0;
}

/* Who ends the barrier waits for this. */
static bool all_have_left(struct iw_waiter *base)
{
	const struct barrier_waiter *me = (const struct barrier_waiter *)base;

	/*
	 * ORD barrier.A3: acquire, so that the caller may free what others have touched. Pairs
	 * with barrier.R1, barrier.R2 and barrier.R3.
	 */
	return !(ipcwait_impl_load64_acquire(&me->barrier->word) & LEAVING_MASK);
}

/*
 * There is no sleeper to publish: those who leave would have to look for it, each time, for the
 * sake of an end that comes once.
 */
static enum iw_settled nap_until_left(struct iw_waiter *base, uint32_t *expected)
{
	(void)expected;
	return all_have_left(base) ? IW_TAKEN : IW_NAP;
}

static const struct iw_waitable end_waitable = {
	.kind = IPCWAIT_KIND_BARRIER,
	.restarts = true,
	.look = all_have_left,
	.settle = nap_until_left,
	.withdraw = all_have_left,
};

static int wait_for_leavers(struct ipcwait_barrier *b)
{
	/* Nothing to be learned for rounds, and nothing is that a dying object has learned. */
	struct ipcwait_window unknown = { 0 };
	struct barrier_waiter me = {
		.base = {
			.what = &end_waitable,
			.window = &unknown,
			.futex = (const uint32_t *)&b->word,
			.deadline_ns = iw_clock_ns() + LEAVE_MOST_NS,
		},
		.barrier = b,
	};
	int r;

	if (all_have_left(&me.base))
		return 0;
	r = iw_wait(&me.base);
	return r == -ETIMEDOUT ? -EBUSY : r;
}

int ipcwait_barrier_fini(struct ipcwait_barrier *b)
{
	int r = check(b, "ipcwait_barrier_fini");

	if (r)
		return r;
	/* ORD barrier.X3: relaxed, protected by the caller: nobody begins another wait. */
	if (ipcwait_impl_load64_relaxed(&b->word) & ARRIVED_MASK)
		return -EBUSY;
	r = wait_for_leavers(b);
	if (r == 0)
		b->flags = FINISHED_FLAGS;
	return r;
}
