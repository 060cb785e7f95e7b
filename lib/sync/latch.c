/* SPDX-License-Identifier: MIT */
/* Slow paths of the latch. The state table is in <ipcwait/latch.h>, the argument in
 * docs/design/gates.md. */
#include <ipcwait/latch.h>

#include "os/seam.h"
#include "sync/copy.h"
#include "sync/object.h"

IW_ASSERT_LAYOUT(struct ipcwait_latch, 32);

#define SLEEPER_ONE   UINT64_C(1)
#define SLEEPERS_MASK UINT64_C(0xffffffff)
#define COUNT_ONE     IPCWAIT_IMPL_LATCH_COUNT_ONE

/* What ipcwait_latch_fini() leaves: not open, and a low half that leads every call here. */
#define FINISHED_WORD ((uint64_t)IPCWAIT_LATCH_COUNT_MAX << 32 | SLEEPERS_MASK)

static uint64_t count(uint64_t w)
{
	return w >> 32;
}

static uint64_t sleepers(uint64_t w)
{
	return w & SLEEPERS_MASK;
}

static const struct iw_layout layout = {
	.kind = IPCWAIT_KIND_LATCH,
	.known_flags = IPCWAIT_PRIVATE,
	.flags = offsetof(struct ipcwait_latch, flags),
	.flags_bytes = 4,
	.note = offsetof(struct ipcwait_latch, reserved),
	.generation = IW_NOTE_GENERATION,
	.lasting = ~SLEEPERS_MASK,
};

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

static enum iw_seen look(struct iw_waiter *base)
{
	return count(read_word((const struct latch_waiter *)base)) ? IW_AWAY : IW_THERE;
}

/* c,s -> c,s+1 */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct latch_waiter *me = (struct latch_waiter *)base;
	uint64_t w, asleep;

	if (!me->sleeper)
		iw_copy_mend(&layout, me->latch);
	do {
		w = read_word(me);
		if (!count(w))
			return iw_rest_taken();
		asleep = me->sleeper ? w : w + SLEEPER_ONE;
		/*
		 * ORD latch.X2: relaxed, no order needed: sleeper and count are in one word, so
		 * either this CAS sees the opening or that sees the sleeper.
		 */
	} while (w != asleep && !ipcwait_impl_cas64_relaxed(&me->latch->word, &w, asleep));
	me->sleeper = true;
	return iw_rest_on((const uint32_t *)&me->latch->word, (uint32_t)asleep);
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
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

static int wait_closed(struct ipcwait_latch *l, int64_t deadline_ns, uintptr_t site)
{
	struct latch_waiter me = { .latch = l };

	/* An open latch teaches nothing. */
	if (look(&me.base) == IW_THERE)
		return 0;
	iw_waiter_begin(&me.base, &layout, l, &latch_waitable, deadline_ns, site);
	return iw_wait(&me.base);
}

static int wait_until(struct ipcwait_latch *l, int64_t deadline_ns, uintptr_t site,
		      const char *call)
{
	int r = iw_check(&layout, l, call);

	return r ? r : wait_closed(l, deadline_ns, site);
}

int ipcwait_impl_latch_wait_slow(struct ipcwait_latch *l)
{
	return wait_until(l, IPCWAIT_FOREVER, IW_CALL_SITE, "ipcwait_latch_wait");
}

int ipcwait_latch_wait_until(struct ipcwait_latch *l, int64_t deadline_ns)
{
	return wait_until(l, deadline_ns, IW_CALL_SITE, "ipcwait_latch_wait_until");
}

/*
 * c,s -> c-n,s, or 0,0 and wake all. The CAS that opens the latch is the last access to it.
 * Returns 1 if this has opened it.
 */
static int count_down(struct ipcwait_latch *l, uint32_t n)
{
	/* ORD latch.X4: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&l->word);
	struct iw_waker waker = iw_waker_on(&layout, l);
	bool opens;

	do {
		if (n > count(w))
			return -EOVERFLOW;
		opens = n == count(w);
		iw_waker_stamp(&waker, opens && sleepers(w));
		/*
		 * ORD latch.R2: release on success, as latch.R1. Pairs with latch.A1, latch.A2
		 * and latch.A3.
		 * ORD latch.A3: acquire, for who counts down and then need not wait. Pairs with
		 * latch.R1 and latch.R2.
		 */
	} while (!ipcwait_impl_cas64_acq_rel(&l->word, &w, opens ? 0 : w - n * COUNT_ONE));

	/* From here on a waiter may have freed the latch. */
	if (opens && sleepers(w))
		iw_waker_wake(&waker, UINT32_MAX);
	return opens;
}

int ipcwait_impl_latch_count_down_slow(struct ipcwait_latch *l, uint32_t n)
{
	int r = iw_check(&layout, l, "ipcwait_latch_count_down");

	if (r == 0)
		r = count_down(l, n);
	return r < 0 ? r : 0;
}

int ipcwait_latch_arrive_and_wait(struct ipcwait_latch *l)
{
	int r = iw_check(&layout, l, "ipcwait_latch_arrive_and_wait");

	if (r == 0)
		r = count_down(l, 1);
	if (r)
		return r < 0 ? r : 0;
	return wait_closed(l, IPCWAIT_FOREVER, IW_CALL_SITE);
}

int ipcwait_latch_init(struct ipcwait_latch *l, uint32_t count_, unsigned flags)
{
	struct ipcwait_latch fresh = IPCWAIT_LATCH_INIT(count_);
	int r = iw_check_init(&layout, l, flags, count_ <= IPCWAIT_LATCH_COUNT_MAX,
			      "ipcwait_latch_init");

	if (r)
		return r;
	fresh.flags = flags;
	fresh.reserved = iw_copy_new(&layout, l, flags);
	*l = fresh;
	return 0;
}

int ipcwait_latch_fini(struct ipcwait_latch *l)
{
	int r = iw_check(&layout, l, "ipcwait_latch_fini");

	if (r)
		return r;
	iw_copy_mend(&layout, l);
	/* ORD latch.X5: relaxed, protected by the caller: nobody else uses the latch. */
	if (sleepers(ipcwait_impl_load64_relaxed(&l->word)))
		return -EBUSY;
	/* ORD latch.X6: relaxed, protected by the caller, as latch.X5. */
	ipcwait_impl_store64_relaxed(&l->word, FINISHED_WORD);
	l->flags = IW_FLAGS_FINISHED;
	return 0;
}

int ipcwait_latch_count(const struct ipcwait_latch *l)
{
	if (IW_IS_CHECKED)
		(void)iw_check(&layout, l, "ipcwait_latch_count");
	/* ORD latch.X7: relaxed, hint: a snapshot that promises no order. */
	return (int)(count(ipcwait_impl_load64_relaxed(&l->word)) &
		     IPCWAIT_LATCH_COUNT_MAX);
}
