/* SPDX-License-Identifier: MIT */
/* Slow paths of the event. The state table is in <ipcwait/event.h>, the argument in
 * docs/design/event.md. */
#include <ipcwait/event.h>

#include "os/seam.h"
#include "sync/any.h"
#include "watch/misuse.h"
#include "watch/stats.h"
#include "engine/wait.h"
#include "engine/wake.h"

_Static_assert(sizeof(struct ipcwait_event) == 32, "shared-memory layout 0");
_Static_assert(_Alignof(struct ipcwait_event) == 8, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_event, word) == 0, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_event, window) == 16, "shared-memory layout 0");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the futex is the low half");

#define SET          IPCWAIT_IMPL_EVENT_SET
#define WAKE         (UINT64_C(1) << 1)
#define EPOCH_MASK   IPCWAIT_IMPL_EVENT_EPOCH_MASK
#define SPINNER      IPCWAIT_IMPL_EVENT_EPOCH_END
#define SLEEPER_ONE  (UINT64_C(1) << 48)
#define SLEEPERS_MAX UINT64_C(0xffff)

/* As many as sleep. */
#define EVERYBODY INT32_MAX

/* What ipcwait_event_fini() leaves: not set, and sleepers that lead every call here. */
#define FINISHED_WORD  (SLEEPERS_MAX * SLEEPER_ONE)
#define FINISHED_FLAGS UINT32_MAX

static uint64_t sleepers(uint64_t w)
{
	return w / SLEEPER_ONE;
}

/* 0, or the error of @call if @e is none that this process can use. */
static int check(const struct ipcwait_event *e, const char *call)
{
	if (!e)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_EVENT, e, call, IW_NULL);
	if ((uintptr_t)e % 8)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_EVENT, e, call, IW_MISALIGNED);
	if (e->flags == FINISHED_FLAGS)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_EVENT, e, call, IW_FINISHED);
	return iw_private_check(&e->reserved, IPCWAIT_KIND_EVENT, e, call);
}

/* One thread in one wait. */
struct event_waiter {
	struct iw_waiter base;
	struct ipcwait_event *event;
	uint64_t seen; /* the word when the wait began */
	bool auto_;    /* the event resets itself */
	bool sleeper;  /* counted in SLEEPERS */
};

/* Whether a word lets the waiter through: the event is set, or has been during the wait. */
static bool open_to(const struct event_waiter *me, uint64_t w)
{
	return w & SET || (!me->auto_ && (w ^ me->seen) & EPOCH_MASK);
}

/*
 * The word without what this waiter has published in it. Its SPINNER needs no clearing, as with
 * the semaphore. WAKE stands for one waiter, or for all that are still counted.
 */
static uint64_t without_me(const struct event_waiter *me, uint64_t w)
{
	if (me->sleeper && sleepers(w))
		w -= SLEEPER_ONE;
	if (me->sleeper && (me->auto_ || !sleepers(w)))
		w &= ~WAKE;
	return w;
}

/* 1,k,s -> 0,0,s-1, or e,k,s -> e,k,s-1. False if the event is not set; *@w is then current. */
static bool take(struct event_waiter *me, uint64_t *w)
{
	for (;;) {
		uint64_t left;

		/* ORD event.A6: acquire, as event.A1. Pairs with event.R1 and event.R2. */
		*w = ipcwait_impl_load64_acquire(&me->event->word);
		if (!open_to(me, *w))
			return false;
		left = without_me(me, me->auto_ ? *w & ~SET : *w);
		/*
		 * ORD event.A7: acquire on success, as event.A1: there may have been another set
		 * since the load, with the same word. Pairs with event.R1 and event.R2.
		 */
		if (left == *w || ipcwait_impl_cas64_acquire(&me->event->word, w, left))
			return true;
	}
}

/*
 * SPINNER 0 -> 1 while others sleep, so that a set leaves the signal to this waiter instead of
 * waking one of them. The exceptions are those of the semaphore.
 */
static void mark_spinner(const struct event_waiter *me, uint64_t w)
{
	if (!me->auto_ || sleepers(w) <= (w & WAKE ? 1 : 0) ||
	    sleepers(w) == SLEEPERS_MAX || (w & SPINNER))
		return;
	/* ORD event.X3: relaxed, re-checked: a set reads the bit in its CAS. */
	(void)ipcwait_impl_cas64_relaxed(&me->event->word, &w, w | SPINNER);
}

static bool look(struct iw_waiter *base)
{
	struct event_waiter *me = (struct event_waiter *)base;
	uint64_t w;

	if (take(me, &w))
		return true;
	mark_spinner(me, w);
	return false;
}

/* 0,k,s -> 0,0,s+1 or 0,0,s, SPINNER -> 0. Who sleeps, sleeps on a low half without WAKE. */
static enum iw_settled settle(struct iw_waiter *base, uint32_t *expected)
{
	struct event_waiter *me = (struct event_waiter *)base;
	uint64_t w, asleep;

	do {
		if (take(me, &w))
			return IW_TAKEN;
		if (!me->sleeper && sleepers(w) == SLEEPERS_MAX)
			return IW_NAP;
		asleep = w & ~(WAKE | SPINNER);
		if (!me->sleeper)
			asleep += SLEEPER_ONE;
		/*
		 * ORD event.X4: relaxed, no order needed: sleepers and signal are in one word, so
		 * either this CAS sees the set or the set sees the sleeper.
		 */
	} while (w != asleep && !ipcwait_impl_cas64_relaxed(&me->event->word, &w, asleep));
	*expected = (uint32_t)asleep;
	me->sleeper = true;
	return IW_SLEEP;
}

/* 0,k,s -> 0,k',s-1 */
static bool withdraw(struct iw_waiter *base)
{
	struct event_waiter *me = (struct event_waiter *)base;
	uint64_t w, left;

	do {
		if (take(me, &w))
			return true;
		left = without_me(me, w);
		/* ORD event.X5: relaxed, no order needed: nothing was taken. */
	} while (w != left && !ipcwait_impl_cas64_relaxed(&me->event->word, &w, left));
	me->sleeper = false;
	return false;
}

static const struct iw_waitable event_waitable = {
	.kind = IPCWAIT_KIND_EVENT,
	.resumable = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

static int wait_contended(struct ipcwait_event *e, uint64_t seen, int64_t deadline_ns,
			  const char *call)
{
	int r = check(e, call);
	struct event_waiter me = {
		.base = {
			.what = &event_waitable,
			.deadline_ns = deadline_ns,
		},
		.event = e,
		.seen = seen,
	};

	if (r)
		return r;
	/* A checked build has tried nothing yet, and learns from the same waits as any. */
	if (IW_IS_CHECKED && ipcwait_impl_event_take(e, seen))
		return 0;
	me.base.window = &e->window;
	me.base.futex = (const uint32_t *)&e->word;
	me.base.private_ = e->flags & IPCWAIT_PRIVATE;
	me.auto_ = e->flags & IPCWAIT_AUTO_RESET;
	return iw_wait(&me.base);
}

int ipcwait_impl_event_wait_slow(struct ipcwait_event *e, uint64_t seen)
{
	return wait_contended(e, seen, IPCWAIT_FOREVER, "ipcwait_event_wait");
}

int ipcwait_event_wait_until(struct ipcwait_event *e, int64_t deadline_ns)
{
	/* ORD event.A8: acquire, as event.A1. Pairs with event.R1 and event.R2. */
	uint64_t w = ipcwait_impl_load64_acquire(&e->word);

	if (!IW_IS_CHECKED && ipcwait_impl_event_take(e, w))
		return 0;
	return wait_contended(e, w, deadline_ns, "ipcwait_event_wait_until");
}

/*
 * Whether sleepers are to be woken for an event that is set: not if a spinner or a woken waiter
 * will take its signal, nor if all are being woken. After a while a wake under way is doubted,
 * see ipcwait_impl_sem_post_slow(). A second set of an event whose signal was left to a spinner
 * wakes a sleeper: the spinner may be dead.
 */
static bool wake_due(uint64_t w, bool stale)
{
	return sleepers(w) && (!(w & WAKE) || stale) && !(w & SPINNER);
}

/* v,e,k -> 1,e',k', SPINNER -> 0, then wake. The CAS is the last access to the event. */
int ipcwait_impl_event_set_slow(struct ipcwait_event *e)
{
	/* ORD event.X6: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&e->word);
	uint32_t count = e->flags & IPCWAIT_AUTO_RESET ? 1 : EVERYBODY;
	bool private_ = e->flags & IPCWAIT_PRIVATE;
	bool stale = false, stamped = false, due;
	uint64_t after, stamped_ns = 0;
	int r = IW_IS_CHECKED || sleepers(w) ? check(e, "ipcwait_event_set") : 0;

	if (r)
		return r;
	do {
		stale = stale || (w & WAKE && !iw_stamp_fresh(&e->window));
		due = wake_due(w, stale);
		if (due && !stamped)
			stamped_ns = iw_stamp(&e->window);
		stamped = stamped || due;
		after = ipcwait_impl_event_after_set(w) & ~SPINNER;
		if (due)
			after |= WAKE;
		/*
		 * ORD event.R2: release on success, as event.R1. Pairs with event.A1, event.A2,
		 * event.A3, event.A4, event.A5, event.A6, event.A7 and event.A8.
		 */
	} while (!ipcwait_impl_cas64_release(&e->word, &w, after));

	/* From here on a waiter may have been let through, and freed the event. */
	if (due)
		(void)iw_wake(IPCWAIT_KIND_EVENT, (const uint32_t *)&e->word, count,
			      private_, stamped_ns);
	else if (sleepers(w))
		iw_count(IPCWAIT_KIND_EVENT, IW_WAKES_AVOIDED, 1);
	return 0;
}

static int refuse_init(const struct ipcwait_event *e)
{
	const char *what = IW_UNKNOWN_FLAGS;

	if (!e)
		what = IW_NULL;
	else if ((uintptr_t)e % 8)
		what = IW_MISALIGNED;
	return iw_misuse(-EINVAL, IPCWAIT_KIND_EVENT, e, "ipcwait_event_init", what);
}

int ipcwait_event_init(struct ipcwait_event *e, unsigned flags)
{
	if (!e || (uintptr_t)e % 8 || flags & ~(IPCWAIT_PRIVATE | IPCWAIT_AUTO_RESET))
		return refuse_init(e);
	*e = (struct ipcwait_event){ .flags = flags, .reserved = iw_private_owner(flags) };
	return 0;
}

int ipcwait_event_fini(struct ipcwait_event *e)
{
	int r = check(e, "ipcwait_event_fini");

	if (r)
		return r;
	/* ORD event.X7: relaxed, protected by the caller: nobody else uses the event. */
	uint64_t w = ipcwait_impl_load64_relaxed(&e->word);

	if (sleepers(w) || w & SPINNER)
		return -EBUSY;
	/* ORD event.X8: relaxed, protected by the caller, as event.X7. */
	ipcwait_impl_store64_relaxed(&e->word, FINISHED_WORD);
	e->flags = FINISHED_FLAGS;
	return 0;
}

/*
 * One of the objects that a thread waits for, lib/sync/any.h. Such a waiter does not mark
 * itself as a spinner: it may take another object, and a set relied on it.
 */
static struct event_waiter one_of_several(const struct ipcwait_waitable *o,
					  const struct iw_any_state *state)
{
	struct ipcwait_event *e = o->object;

	return (struct event_waiter){
		.event = e,
		.seen = state->own,
		.auto_ = e->flags & IPCWAIT_AUTO_RESET,
		.sleeper = state->announced,
	};
}

static int any_begin(const struct ipcwait_waitable *o, struct iw_any_state *state,
		     const char *call)
{
	const struct ipcwait_event *e = o->object;
	int r = check(e, call);

	/* ORD event.X9: relaxed, re-checked by take(), which finds this word or a later one. */
	if (r == 0)
		state->own = ipcwait_impl_load64_relaxed(&e->word);
	return r;
}

static bool any_take(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct event_waiter me = one_of_several(o, state);
	uint64_t w;

	return take(&me, &w);
}

static enum iw_settled any_announce(const struct ipcwait_waitable *o,
				    struct iw_any_state *state, struct iw_waitv *word)
{
	struct event_waiter me = one_of_several(o, state);
	uint32_t expected = 0;
	enum iw_settled how = settle(&me.base, &expected);

	*word = iw_waitv((const uint32_t *)&me.event->word, expected,
			 me.event->flags & IPCWAIT_PRIVATE);
	return how;
}

static bool any_withdraw(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct event_waiter me = one_of_several(o, state);

	return withdraw(&me.base);
}

/*
 * v,k,s -> v,k',s-1, then wake if k' = 1 where k was 0 or this waiter's own: the signal is for
 * another one. A set of a manual event has woken all, with this waiter or without.
 */
static void any_retract(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	const struct event_waiter me = one_of_several(o, state);
	/* ORD event.X10: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&me.event->word);
	uint64_t left, stamped_ns = 0;
	bool due;

	do {
		left = without_me(&me, w);
		due = me.auto_ && left & SET && wake_due(left, false);
		if (due && !stamped_ns)
			stamped_ns = iw_stamp(&me.event->window);
		if (due)
			left |= WAKE;
		/* ORD event.X11: relaxed, no order needed: whoever has set it has released. */
	} while (!ipcwait_impl_cas64_relaxed(&me.event->word, &w, left));
	if (!due)
		return;
	(void)iw_wake(IPCWAIT_KIND_EVENT, (const uint32_t *)&me.event->word, 1,
		      me.event->flags & IPCWAIT_PRIVATE, stamped_ns);
}

const struct iw_any_kind iw_any_event = {
	.begin = any_begin,
	.take = any_take,
	.announce = any_announce,
	.withdraw = any_withdraw,
	.retract = any_retract,
};
