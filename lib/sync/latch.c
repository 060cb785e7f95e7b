/* SPDX-License-Identifier: MIT */
/* Slow paths of the latch. The state table is in <ipcwait/latch.h>, the argument in
 * docs/design/gates.md. */
#include <ipcwait/latch.h>

#include "os/seam.h"
#include "watch/misuse.h"
#include "watch/stats.h"
#include "engine/wait.h"
#include "engine/wake.h"

_Static_assert(sizeof(struct ipcwait_latch) == 32, "shared-memory layout 0");
_Static_assert(_Alignof(struct ipcwait_latch) == 8, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_latch, word) == 0, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_latch, window) == 16, "shared-memory layout 0");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the futex is the low half");

#define SLEEPER_ONE   UINT64_C(1)
#define SLEEPERS_MASK UINT64_C(0xffffffff)
#define COUNT_ONE     IPCWAIT_IMPL_LATCH_COUNT_ONE

/* What ipcwait_latch_fini() leaves: not open, and a low half that leads every call here. */
#define FINISHED_WORD  ((uint64_t)IPCWAIT_LATCH_COUNT_MAX << 32 | SLEEPERS_MASK)
#define FINISHED_FLAGS UINT32_MAX

static uint64_t count(uint64_t w)
{
	return w >> 32;
}

static uint64_t sleepers(uint64_t w)
{
	return w & SLEEPERS_MASK;
}

/* 0, or the error of @call if @l is none that this process can use. */
static int check(const struct ipcwait_latch *l, const char *call)
{
	if (!l)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_LATCH, l, call, IW_NULL);
	if ((uintptr_t)l % 8)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_LATCH, l, call, IW_MISALIGNED);
	if (l->flags == FINISHED_FLAGS)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_LATCH, l, call, IW_FINISHED);
	return iw_private_check(&l->reserved, IPCWAIT_KIND_LATCH, l, call);
}

/* One thread in one wait. */
struct latch_waiter {
	struct iw_waiter base;
	struct ipcwait_latch *latch;
	bool sleeper; /* counted in SLEEPERS */
};

/* The word, and what happened before the count-downs that it has had. */
static uint64_t read_word(const struct latch_waiter *me)
{
	/* ORD latch.A2: acquire, as latch.A1. Pairs with latch.R1 and latch.R2. */
	return ipcwait_impl_load64_acquire(&me->latch->word);
}

static bool look(struct iw_waiter *base)
{
	return !count(read_word((const struct latch_waiter *)base));
}

/* c,s -> c,s+1 */
static enum iw_settled settle(struct iw_waiter *base, uint32_t *expected)
{
	struct latch_waiter *me = (struct latch_waiter *)base;
	uint64_t w, asleep;

	do {
		w = read_word(me);
		if (!count(w))
			return IW_TAKEN;
		asleep = me->sleeper ? w : w + SLEEPER_ONE;
		*expected = (uint32_t)asleep;
		/*
		 * ORD latch.X2: relaxed, no order needed: sleeper and count are in one word, so
		 * either this CAS sees the opening or that sees the sleeper.
		 */
	} while (w != asleep && !ipcwait_impl_cas64_relaxed(&me->latch->word, &w, asleep));
	me->sleeper = true;
	return IW_SLEEP;
}

/* c,s -> c,s-1 */
static bool withdraw(struct iw_waiter *base)
{
	struct latch_waiter *me = (struct latch_waiter *)base;
	uint64_t w;

	do {
		w = read_word(me);
		if (!count(w))
			return true;
		/* ORD latch.X3: relaxed, no order needed: it is not open. */
	} while (me->sleeper && sleepers(w) &&
		 !ipcwait_impl_cas64_relaxed(&me->latch->word, &w, w - SLEEPER_ONE));
	me->sleeper = false;
	return false;
}

static const struct iw_waitable latch_waitable = {
	.kind = IPCWAIT_KIND_LATCH,
	.resumable = true,
	.restarts = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

static int wait_closed(struct ipcwait_latch *l, int64_t deadline_ns)
{
	struct latch_waiter me = {
		.base = {
			.what = &latch_waitable,
			.window = &l->window,
			.futex = (const uint32_t *)&l->word,
			.deadline_ns = deadline_ns,
			.private_ = l->flags & IPCWAIT_PRIVATE,
		},
		.latch = l,
	};

	/* An open latch teaches nothing. */
	return look(&me.base) ? 0 : iw_wait(&me.base);
}

static int wait_until(struct ipcwait_latch *l, int64_t deadline_ns, const char *call)
{
	int r = check(l, call);

	return r ? r : wait_closed(l, deadline_ns);
}

int ipcwait_impl_latch_wait_slow(struct ipcwait_latch *l)
{
	return wait_until(l, IPCWAIT_FOREVER, "ipcwait_latch_wait");
}

int ipcwait_latch_wait_until(struct ipcwait_latch *l, int64_t deadline_ns)
{
	return wait_until(l, deadline_ns, "ipcwait_latch_wait_until");
}

/*
 * c,s -> c-n,s, or 0,0 and wake all. The CAS that opens the latch is the last access to it.
 * Returns 1 if this has opened it.
 */
static int count_down(struct ipcwait_latch *l, uint32_t n)
{
	/* ORD latch.X4: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&l->word);
	bool private_ = l->flags & IPCWAIT_PRIVATE;
	uint64_t stamped_ns = 0;
	bool opens;

	do {
		if (n > count(w))
			return -EOVERFLOW;
		opens = n == count(w);
		if (opens && sleepers(w) && !stamped_ns)
			stamped_ns = iw_stamp(&l->window);
		/*
		 * ORD latch.R2: release on success, as latch.R1. Pairs with latch.A1, latch.A2
		 * and latch.A3.
		 * ORD latch.A3: acquire, for who counts down and then need not wait. Pairs with
		 * latch.R1 and latch.R2.
		 */
	} while (!ipcwait_impl_cas64_acq_rel(&l->word, &w, opens ? 0 : w - n * COUNT_ONE));

	/* From here on a waiter may have freed the latch. */
	if (opens && sleepers(w))
		(void)iw_wake(IPCWAIT_KIND_LATCH, (const uint32_t *)&l->word, UINT32_MAX,
			      private_, stamped_ns);
	return opens;
}

int ipcwait_impl_latch_count_down_slow(struct ipcwait_latch *l, uint32_t n)
{
	int r = check(l, "ipcwait_latch_count_down");

	if (r == 0)
		r = count_down(l, n);
	return r < 0 ? r : 0;
}

int ipcwait_latch_arrive_and_wait(struct ipcwait_latch *l)
{
	int r = check(l, "ipcwait_latch_arrive_and_wait");

	if (r == 0)
		r = count_down(l, 1);
	if (r)
		return r < 0 ? r : 0;
	return wait_closed(l, IPCWAIT_FOREVER);
}

static int refuse_init(const struct ipcwait_latch *l, uint32_t count_)
{
	const char *what = IW_UNKNOWN_FLAGS;

	if (!l)
		what = IW_NULL;
	else if ((uintptr_t)l % 8)
		what = IW_MISALIGNED;
	else if (count_ > IPCWAIT_LATCH_COUNT_MAX)
		what = IW_OUT_OF_RANGE;
	return iw_misuse(-EINVAL, IPCWAIT_KIND_LATCH, l, "ipcwait_latch_init", what);
}

int ipcwait_latch_init(struct ipcwait_latch *l, uint32_t count_, unsigned flags)
{
	struct ipcwait_latch fresh = IPCWAIT_LATCH_INIT(count_);

	if (!l || (uintptr_t)l % 8 || count_ > IPCWAIT_LATCH_COUNT_MAX ||
	    flags & ~IPCWAIT_PRIVATE)
		return refuse_init(l, count_);
	fresh.flags = flags;
	fresh.reserved = iw_private_owner(flags);
	*l = fresh;
	return 0;
}

int ipcwait_latch_fini(struct ipcwait_latch *l)
{
	int r = check(l, "ipcwait_latch_fini");

	if (r)
		return r;
	/* ORD latch.X5: relaxed, protected by the caller: nobody else uses the latch. */
	if (sleepers(ipcwait_impl_load64_relaxed(&l->word)))
		return -EBUSY;
	/* ORD latch.X6: relaxed, protected by the caller, as latch.X5. */
	ipcwait_impl_store64_relaxed(&l->word, FINISHED_WORD);
	l->flags = FINISHED_FLAGS;
	return 0;
}

int ipcwait_latch_count(const struct ipcwait_latch *l)
{
	if (IW_IS_CHECKED)
		(void)check(l, "ipcwait_latch_count");
	/* ORD latch.X7: relaxed, hint: a snapshot that promises no order. */
	return (int)(count(ipcwait_impl_load64_relaxed(&l->word)) &
		     IPCWAIT_LATCH_COUNT_MAX);
}
