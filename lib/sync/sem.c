/* SPDX-License-Identifier: MIT */
/* Slow paths of the semaphore. The state table is in <ipcwait/sem.h>, the argument in
 * docs/design/sem.md. */
#include <ipcwait/sem.h>

#include "os/seam.h"
#include "sync/any.h"
#include "sync/copy.h"
#include "sync/object.h"
#include "watch/stats.h"

IW_ASSERT_LAYOUT(struct ipcwait_sem, 32);

#define SLEEPER_ONE  UINT64_C(1)
#define WAKE_ONE     (UINT64_C(1) << 16)
#define COUNT_MASK   UINT64_C(0xffff)
#define SLEEPERS_MAX UINT64_C(0xffff)
#define WAKES_MASK   (COUNT_MASK << 16)
#define SPINNER      (UINT64_C(1) << 63)

/* What ipcwait_sem_fini() leaves: no token, and a low half that leads every post here. */
#define FINISHED_WORD (SLEEPERS_MAX | WAKES_MASK)

static uint64_t value(uint64_t w)
{
	return (w & IPCWAIT_IMPL_SEM_VALUE_MASK) >> 32;
}

static uint64_t sleepers(uint64_t w)
{
	return w & COUNT_MASK;
}

static uint64_t wakes(uint64_t w)
{
	return (w & WAKES_MASK) >> 16;
}

static const struct iw_layout layout = {
	.kind = IPCWAIT_KIND_SEM,
	.known_flags = IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE,
	.flags = offsetof(struct ipcwait_sem, flags),
	.flags_bytes = 4,
	.note = offsetof(struct ipcwait_sem, reserved),
	.generation = IW_NOTE_GENERATION,
	.lasting = IPCWAIT_IMPL_SEM_VALUE_MASK,
};

/* One thread in one wait. */
struct sem_waiter {
	struct iw_waiter base;
	struct ipcwait_sem *sem;
	bool sleeper; /* counted in SLEEPERS */
};

/*
 * The word without what this waiter has published in it. Its SPINNER needs no clearing: a post
 * clears it with the token that it leaves, and so does whoever announces a sleep, this waiter
 * too. Nobody can leave in any other way while it is set.
 */
static uint64_t without_me(const struct sem_waiter *me, uint64_t w)
{
	if (me->sleeper && sleepers(w))
		w -= SLEEPER_ONE;
	if (me->sleeper && wakes(w))
		w -= WAKE_ONE;
	return w;
}

/* v,k,s -> v-1, without me. False if there is no token; *@w is then current. */
static bool take(struct sem_waiter *me, uint64_t *w)
{
	while (value(*w)) {
		/*
		 * ORD sem.A3: acquire on success, so the caller sees what the poster wrote
		 * before it posted. Pairs with sem.R1 and sem.R2.
		 */
		if (ipcwait_impl_cas64_acquire(&me->sem->word, w,
					       without_me(me, *w) -
						       IPCWAIT_IMPL_SEM_VALUE_ONE))
			return true;
	}
	return false;
}

/*
 * SPINNER 0 -> 1 while others sleep, so that a post leaves one token for this waiter
 * instead of waking one of them. One attempt per look: the next look tries again. A waiter
 * that was woken is counted in WAKES already, and a second time would be once too often.
 * One that finds SLEEPERS full will not be woken, and must not keep a token waiting for that long.
 */
static void mark_spinner(const struct sem_waiter *me, uint64_t w)
{
	if (me->sleeper || sleepers(w) <= wakes(w) || sleepers(w) == SLEEPERS_MAX ||
	    (w & SPINNER))
		return;
	/* ORD sem.X4: relaxed, re-checked: a post reads the bit in the CAS that adds a token. */
	(void)ipcwait_impl_cas64_relaxed(&me->sem->word, &w, w | SPINNER);
}

static enum iw_seen look(struct iw_waiter *base)
{
	struct sem_waiter *me = (struct sem_waiter *)base;
	/* ORD sem.X5: relaxed, re-checked by the CAS in take() or mark_spinner(). */
	uint64_t w = ipcwait_impl_load64_relaxed(&me->sem->word);

	if (take(me, &w))
		return IW_THERE;
	mark_spinner(me, w);
	return IW_AWAY;
}

/*
 * 0,k,s -> 0,0,s+1 or 0,0,s, SPINNER -> 0. To forget the wakes under way is what lets a
 * thread sleep on a low half with WAKES zero only, and that is what makes WAKES safe: see
 * docs/design/sem.md. It also heals what a killed waiter left behind.
 */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct sem_waiter *me = (struct sem_waiter *)base;
	/* ORD sem.X6: relaxed, re-checked by the CAS below or in take(). */
	uint64_t w = ipcwait_impl_load64_relaxed(&me->sem->word), asleep;

	if (!me->sleeper)
		iw_copy_mend(&layout, me->sem);
	do {
		if (take(me, &w))
			return iw_rest_taken();
		if (!me->sleeper && sleepers(w) == SLEEPERS_MAX)
			return iw_rest_unpublished();
		asleep = w & ~(WAKES_MASK | SPINNER);
		if (!me->sleeper)
			asleep += SLEEPER_ONE;
		/*
		 * ORD sem.X7: relaxed, no order needed: sleeper and tokens are in one word, so
		 * either this CAS sees the token or the post sees the sleeper.
		 */
	} while (w != asleep && !ipcwait_impl_cas64_relaxed(&me->sem->word, &w, asleep));
	me->sleeper = true;
	return iw_rest_on((const uint32_t *)&me->sem->word, (uint32_t)asleep);
}

/* 0,k,s -> 0,k-1,s-1 */
static bool withdraw(struct iw_waiter *base)
{
	struct sem_waiter *me = (struct sem_waiter *)base;
	/* ORD sem.X8: relaxed, re-checked by the CAS below or in take(). */
	uint64_t w = ipcwait_impl_load64_relaxed(&me->sem->word);

	for (;;) {
		if (take(me, &w))
			return true;
		/* ORD sem.X9: relaxed, no order needed: nothing was taken. */
		if (w == without_me(me, w) ||
		    ipcwait_impl_cas64_relaxed(&me->sem->word, &w, without_me(me, w)))
			break;
	}
	me->sleeper = false;
	return false;
}

static const struct iw_waitable sem_waitable = {
	.kind = IPCWAIT_KIND_SEM,
	.resumable = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

static int wait_contended(struct ipcwait_sem *s, int64_t deadline_ns, uintptr_t site,
			  const char *call)
{
	struct sem_waiter me = { .sem = s };
	int r = iw_check(&layout, s, call);

	if (r)
		return r;
	/* A checked build has tried nothing yet, and learns from the same waits as any. */
	if (IW_IS_CHECKED && ipcwait_sem_trywait(s) == 0)
		return 0;
	iw_waiter_begin(&me.base, &layout, s, &sem_waitable, deadline_ns, site);
	return iw_wait(&me.base);
}

int ipcwait_impl_sem_wait_slow(struct ipcwait_sem *s)
{
	return wait_contended(s, IPCWAIT_FOREVER, IW_CALL_SITE, "ipcwait_sem_wait");
}

int ipcwait_sem_wait_until(struct ipcwait_sem *s, int64_t deadline_ns)
{
	if (!IW_IS_CHECKED && ipcwait_sem_trywait(s) == 0)
		return 0;
	return wait_contended(s, deadline_ns, IW_CALL_SITE, "ipcwait_sem_wait_until");
}

/*
 * How many sleepers a post of @n must wake: as many as there are tokens that no waiter on
 * its way, and no spinner, will take; and no more than sleep and are not being woken.
 */
static uint32_t wakes_due(uint64_t w, uint32_t n)
{
	uint64_t asleep = sleepers(w) > wakes(w) ? sleepers(w) - wakes(w) : 0;
	uint64_t tokens = value(w) + n;
	uint64_t awake = wakes(w) + (w & SPINNER ? 1 : 0);
	uint64_t left = tokens > awake ? tokens - awake : 0;

	return (uint32_t)(left < asleep ? left : asleep);
}

/*
 * v,k -> v+n,k+m, SPINNER -> 0, then wake m. The CAS is the last access to the semaphore. WAKES
 * that are doubted read as zero, which costs a needless call at worst.
 *
 * The post that leaves a token for the spinner also uses up its mark, so that a mark whose
 * thread was killed misleads one post only; a living spinner marks again.
 */
int ipcwait_impl_sem_post_slow(struct ipcwait_sem *s, uint32_t n)
{
	/* ORD sem.X10: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&s->word);
	struct iw_waker waker;
	uint64_t known, posted;
	uint32_t due;
	int r = 0;

	if (IW_IS_CHECKED || sleepers(w))
		r = iw_check(&layout, s,
			     n == 1 ? "ipcwait_sem_post" : "ipcwait_sem_post_n");
	if (r)
		return r;
	waker = iw_waker_on(&layout, s);
	do {
		if (n > IPCWAIT_SEM_VALUE_MAX - value(w))
			return -EOVERFLOW;
		known = iw_waker_doubts(&waker, wakes(w)) ? w & ~WAKES_MASK : w;
		due = wakes_due(known, n);
		iw_waker_stamp(&waker, due);
		posted = (known & ~SPINNER) + ((uint64_t)n << 32) + due * WAKE_ONE;
		/*
		 * ORD sem.R2: release on success, as sem.R1. Pairs with sem.A1, sem.A2 and
		 * sem.A3.
		 */
	} while (!ipcwait_impl_cas64_release(&s->word, &w, posted));

	/* From here on a waiter may have taken the token, and freed the semaphore. */
	if (due)
		iw_waker_wake(&waker, due);
	else if (sleepers(w))
		iw_count(IPCWAIT_KIND_SEM, IW_WAKES_AVOIDED, 1);
	return 0;
}

int ipcwait_sem_init(struct ipcwait_sem *s, uint32_t value_, unsigned flags)
{
	struct ipcwait_sem fresh = IPCWAIT_SEM_INIT(value_);
	int r = iw_check_init(&layout, s, flags, value_ <= IPCWAIT_SEM_VALUE_MAX,
			      "ipcwait_sem_init");

	if (r)
		return r;
	fresh.flags = flags;
	fresh.reserved = iw_copy_new(&layout, s, flags);
	*s = fresh;
	return 0;
}

int ipcwait_sem_fini(struct ipcwait_sem *s)
{
	int r = iw_check(&layout, s, "ipcwait_sem_fini");

	if (r)
		return r;
	iw_copy_mend(&layout, s);
	/* ORD sem.X11: relaxed, protected by the caller: nobody else uses the semaphore. */
	uint64_t w = ipcwait_impl_load64_relaxed(&s->word);

	if (sleepers(w) || w & SPINNER)
		return -EBUSY;
	/* ORD sem.X12: relaxed, protected by the caller, as sem.X11. */
	ipcwait_impl_store64_relaxed(&s->word, FINISHED_WORD);
	s->flags = IW_FLAGS_FINISHED;
	return 0;
}

int ipcwait_sem_value(const struct ipcwait_sem *s)
{
	if (IW_IS_CHECKED)
		(void)iw_check(&layout, s, "ipcwait_sem_value");
	/* ORD sem.X13: relaxed, hint: a snapshot that promises no order. */
	return (int)value(ipcwait_impl_load64_relaxed(&s->word));
}

/*
 * One of the objects that a thread waits for, lib/sync/any.h. Such a waiter does not mark
 * itself as a spinner: it may take another object, and a post relied on it.
 */
static struct sem_waiter one_of_several(const struct ipcwait_waitable *o,
					const struct iw_any_state *state)
{
	return (struct sem_waiter){ .sem = o->object, .sleeper = state->announced };
}

static bool any_take(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct sem_waiter me = one_of_several(o, state);
	/* ORD sem.X14: relaxed, re-checked by the CAS in take(). */
	uint64_t w = ipcwait_impl_load64_relaxed(&me.sem->word);

	return take(&me, &w);
}

static struct iw_rest any_announce(const struct ipcwait_waitable *o,
				   struct iw_any_state *state)
{
	struct sem_waiter me = one_of_several(o, state);

	return settle(&me.base);
}

static bool any_withdraw(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct sem_waiter me = one_of_several(o, state);

	return withdraw(&me.base);
}

/*
 * v,k,s -> v,k-1+m,s-1, then wake m: a post of nothing, for whoever the last post would have
 * woken had this waiter not been there.
 */
static void any_retract(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	const struct sem_waiter me = one_of_several(o, state);
	/* ORD sem.X15: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&me.sem->word);
	struct iw_waker waker = iw_waker_on(&layout, me.sem);
	uint64_t left;
	uint32_t due;

	do {
		left = without_me(&me, w);
		due = wakes_due(left, 0);
		iw_waker_stamp(&waker, due);
		/* ORD sem.X16: relaxed, no order needed: whoever posted has released. */
	} while (!ipcwait_impl_cas64_relaxed(&me.sem->word, &w, left + due * WAKE_ONE));
	if (due)
		iw_waker_wake(&waker, due);
}

const struct iw_any_kind iw_any_sem = {
	.layout = &layout,
	.take = any_take,
	.announce = any_announce,
	.withdraw = any_withdraw,
	.retract = any_retract,
};
