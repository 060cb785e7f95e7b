/* SPDX-License-Identifier: MIT */
/* Slow paths of the event. The state table is in <ipcwait/event.h>, the argument in
 * docs/design/event.md. */
#include <ipcwait/event.h>

#include "os/seam.h"
#include "sync/any.h"
#include "sync/copy.h"
#include "sync/object.h"
#include "watch/stats.h"

IW_ASSERT_LAYOUT(struct ipcwait_event, 32);

#define SET          IPCWAIT_IMPL_EVENT_SET
#define WAKE         (UINT64_C(1) << 1)
#define EPOCH_MASK   IPCWAIT_IMPL_EVENT_EPOCH_MASK
#define SPINNER      IPCWAIT_IMPL_EVENT_EPOCH_END
#define SLEEPER_ONE  (UINT64_C(1) << 48)
#define SLEEPERS_MAX UINT64_C(0xffff)

/* As many as sleep. */
#define EVERYBODY INT32_MAX

/* What ipcwait_event_fini() leaves: not set, and sleepers that lead every call here. */
#define FINISHED_WORD (SLEEPERS_MAX * SLEEPER_ONE)

static uint64_t sleepers(uint64_t w)
{
	return w / SLEEPER_ONE;
}

static const struct iw_layout layout = {
	.kind = IPCWAIT_KIND_EVENT,
	.known_flags = IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE | IPCWAIT_AUTO_RESET,
	.flags = offsetof(struct ipcwait_event, flags),
	.flags_bytes = 4,
	.note = offsetof(struct ipcwait_event, reserved),
	.generation = IW_NOTE_GENERATION,
	.lasting = SET | EPOCH_MASK,
};

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

static enum iw_seen look(struct iw_waiter *base)
{
	struct event_waiter *me = (struct event_waiter *)base;
	uint64_t w;

	if (take(me, &w))
		return IW_THERE;
	mark_spinner(me, w);
	return IW_AWAY;
}

/* 0,k,s -> 0,0,s+1 or 0,0,s, SPINNER -> 0. Who sleeps, sleeps on a low half without WAKE. */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct event_waiter *me = (struct event_waiter *)base;
	uint64_t w, asleep;

	if (!me->sleeper)
		iw_copy_mend(&layout, me->event);
	do {
		if (take(me, &w))
			return iw_rest_taken();
		if (!me->sleeper && sleepers(w) == SLEEPERS_MAX)
			return iw_rest_unpublished();
		asleep = w & ~(WAKE | SPINNER);
		if (!me->sleeper)
			asleep += SLEEPER_ONE;
		/*
		 * ORD event.X4: relaxed, no order needed: sleepers and signal are in one word, so
		 * either this CAS sees the set or the set sees the sleeper.
		 */
	} while (w != asleep && !ipcwait_impl_cas64_relaxed(&me->event->word, &w, asleep));
	me->sleeper = true;
	return iw_rest_on((const uint32_t *)&me->event->word, (uint32_t)asleep);
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
			  uintptr_t site, const char *call)
{
	struct event_waiter me = { .event = e, .seen = seen };
	int r = iw_check(&layout, e, call);

	if (r)
		return r;
	/* A checked build has tried nothing yet, and learns from the same waits as any. */
	if (IW_IS_CHECKED && ipcwait_impl_event_take(e, seen))
		return 0;
	iw_waiter_begin(&me.base, &layout, e, &event_waitable, deadline_ns, site);
	me.auto_ = e->flags & IPCWAIT_AUTO_RESET;
	return iw_wait(&me.base);
}

int ipcwait_impl_event_wait_slow(struct ipcwait_event *e, uint64_t seen)
{
	return wait_contended(e, seen, IPCWAIT_FOREVER, IW_CALL_SITE, "ipcwait_event_wait");
}

int ipcwait_event_wait_until(struct ipcwait_event *e, int64_t deadline_ns)
{
	/* ORD event.A8: acquire, as event.A1. Pairs with event.R1 and event.R2. */
	uint64_t w = ipcwait_impl_load64_acquire(&e->word);

	if (!IW_IS_CHECKED && ipcwait_impl_event_take(e, w))
		return 0;
	return wait_contended(e, w, deadline_ns, IW_CALL_SITE, "ipcwait_event_wait_until");
}

/*
 * Whether sleepers are to be woken for an event that is set: not if a spinner or a woken waiter
 * will take its signal, nor if all are being woken, unless those wakes are @stale. A second set of
 * an event whose signal was left to a spinner wakes a sleeper: the spinner may be dead.
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
	struct iw_waker waker;
	uint64_t after;
	bool due;
	int r = 0;

	if (IW_IS_CHECKED || sleepers(w))
		r = iw_check(&layout, e, "ipcwait_event_set");
	if (r)
		return r;
	waker = iw_waker_on(&layout, e);
	do {
		due = wake_due(w, iw_waker_doubts(&waker, w & WAKE));
		iw_waker_stamp(&waker, due);
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
		iw_waker_wake(&waker, count);
	else if (sleepers(w))
		iw_count(IPCWAIT_KIND_EVENT, IW_WAKES_AVOIDED, 1);
	return 0;
}

int ipcwait_event_init(struct ipcwait_event *e, unsigned flags)
{
	int r = iw_check_init(&layout, e, flags, true, "ipcwait_event_init");

	if (r)
		return r;
	*e = (struct ipcwait_event){ .flags = flags,
				     .reserved = iw_copy_new(&layout, e, flags) };
	return 0;
}

int ipcwait_event_fini(struct ipcwait_event *e)
{
	int r = iw_check(&layout, e, "ipcwait_event_fini");

	if (r)
		return r;
	iw_copy_mend(&layout, e);
	/* ORD event.X7: relaxed, protected by the caller: nobody else uses the event. */
	uint64_t w = ipcwait_impl_load64_relaxed(&e->word);

	if (sleepers(w) || w & SPINNER)
		return -EBUSY;
	/* ORD event.X8: relaxed, protected by the caller, as event.X7. */
	ipcwait_impl_store64_relaxed(&e->word, FINISHED_WORD);
	e->flags = IW_FLAGS_FINISHED;
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

	(void)call;
	/* ORD event.X9: relaxed, re-checked by take(), which finds this word or a later one. */
	state->own = ipcwait_impl_load64_relaxed(&e->word);
	return 0;
}

static bool any_take(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct event_waiter me = one_of_several(o, state);
	uint64_t w;

	return take(&me, &w);
}

static struct iw_rest any_announce(const struct ipcwait_waitable *o,
				   struct iw_any_state *state)
{
	struct event_waiter me = one_of_several(o, state);

	return settle(&me.base);
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
	struct iw_waker waker = iw_waker_on(&layout, me.event);
	uint64_t left;
	bool due;

	do {
		left = without_me(&me, w);
		due = me.auto_ && left & SET && wake_due(left, false);
		iw_waker_stamp(&waker, due);
		if (due)
			left |= WAKE;
		/* ORD event.X11: relaxed, no order needed: whoever has set it has released. */
	} while (!ipcwait_impl_cas64_relaxed(&me.event->word, &w, left));
	if (due)
		iw_waker_wake(&waker, 1);
}

const struct iw_any_kind iw_any_event = {
	.layout = &layout,
	.begin = any_begin,
	.take = any_take,
	.announce = any_announce,
	.withdraw = any_withdraw,
	.retract = any_retract,
};
