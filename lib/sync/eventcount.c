/* SPDX-License-Identifier: MIT */
/* Slow paths of the event count. The state table is in <ipcwait/eventcount.h>, the argument in
 * docs/design/eventcount.md. */
#include <ipcwait/eventcount.h>

#include "os/seam.h"
#include "sync/any.h"
#include "sync/eventcount.h"
#include "sync/copy.h"
#include "sync/object.h"
#include "watch/stats.h"

IW_ASSERT_LAYOUT(struct ipcwait_eventcount, 32);

#define HEAD_ONE  (UINT64_C(1) << 32)
#define HEAD_MASK UINT32_C(0x7ff)
#define LINE_ONE  (UINT64_C(1) << 43)
#define LINE_MAX  UINT64_C(0x3ff)
#define GONE_ONE  (UINT64_C(1) << 53)
#define GONE_MAX  UINT64_C(0xf)
#define WAKE_ONE  (UINT64_C(1) << 57)
#define WAKES_MAX UINT64_C(0x7f)

/* Sleepers whose places differ by this are woken together. */
#define CLASSES     32
#define ALL_CLASSES UINT32_MAX

/* As many as sleep in the classes that are woken. */
#define EVERYBODY INT32_MAX

/* What ipcwait_eventcount_fini() leaves: a line that leads every notification here. */
#define FINISHED_WORD (LINE_MAX * LINE_ONE)

static uint32_t head(uint64_t w)
{
	return (uint32_t)(w / HEAD_ONE) & HEAD_MASK;
}

static uint64_t line(uint64_t w)
{
	return w / LINE_ONE & LINE_MAX;
}

/* Not more than there are in line, whatever somebody scribbled. */
static uint64_t gone(uint64_t w)
{
	uint64_t g = w / GONE_ONE & GONE_MAX;

	return g < line(w) ? g : line(w);
}

static uint64_t wakes(uint64_t w)
{
	return w / WAKE_ONE;
}

static const struct iw_layout layout = {
	.kind = IPCWAIT_KIND_EVENTCOUNT,
	.known_flags = IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE,
	.flags = offsetof(struct ipcwait_eventcount, flags),
	.flags_bytes = 4,
	.note = offsetof(struct ipcwait_eventcount, reserved),
	.generation = IW_NOTE_GENERATION,
	.lasting = HEAD_MASK * HEAD_ONE | UINT32_MAX,
};

/* One thread in one wait. */
struct eventcount_waiter {
	struct iw_waiter base;
	struct ipcwait_eventcount *ec;
	uint64_t key;
	uint32_t place; /* if in line */
	bool in_line;
};

static bool notified(const struct eventcount_waiter *me, uint64_t w)
{
	return (uint32_t)w != me->key;
}

/* Whether a notification has reached this waiter's place. May be wrong after 1024 more places. */
static bool reached(const struct eventcount_waiter *me, uint64_t w)
{
	return ((head(w) - me->place - 1) & HEAD_MASK) < HEAD_MASK / 2 + 1;
}

static bool is_last(const struct eventcount_waiter *me, uint64_t w)
{
	return line(w) && !((head(w) + line(w) - 1 - me->place) & HEAD_MASK);
}

/* Its place may be reached with nobody there. */
static uint64_t with_one_gone(uint64_t w)
{
	return gone(w) < line(w) && gone(w) < GONE_MAX ? w + GONE_ONE : w;
}

/*
 * The word without this waiter, who is in line. The last one takes its place along, if it is
 * certain that it was not reached. Where all places seem to be empty, its own did too.
 */
static uint64_t without_me(const struct eventcount_waiter *me, uint64_t w)
{
	if (!notified(me, w) && is_last(me, w))
		return gone(w) < line(w) ? w - LINE_ONE : w - LINE_ONE - GONE_ONE;
	if (!notified(me, w) || !reached(me, w))
		return with_one_gone(w);
	return wakes(w) ? w - WAKE_ONE : w;
}

/* k -> k-1, or g -> g+1. False if there was no notification; *@w is then current. */
static bool take(struct eventcount_waiter *me, uint64_t *w)
{
	for (;;) {
		/*
		 * ORD eventcount.A2: acquire, so the caller sees what came before the
		 * notification. Pairs with eventcount.R1 and eventcount.R2.
		 */
		*w = ipcwait_impl_load64_acquire(&me->ec->word);
		if (!notified(me, *w))
			return false;
		/* ORD eventcount.X2: relaxed, no order needed: eventcount.A2 has acquired. */
		if (!me->in_line ||
		    ipcwait_impl_cas64_relaxed(&me->ec->word, w, without_me(me, *w)))
			return true;
	}
}

static enum iw_seen look(struct iw_waiter *base)
{
	uint64_t w;

	return take((struct eventcount_waiter *)base, &w) ? IW_THERE : IW_AWAY;
}

/*
 * There is no place left. If some belong to waiters that have gone, notifying all sweeps them
 * away, this waiter's wait too.
 */
static struct iw_rest settle_beyond(struct eventcount_waiter *me, uint64_t w)
{
	if (!gone(w) || iw_eventcount_notify(me->ec, UINT32_MAX, layout.kind))
		return iw_rest_unpublished();
	return take(me, &w) ? iw_rest_taken() : iw_rest_unpublished();
}

static struct iw_rest rest_in_line(const struct eventcount_waiter *me)
{
	struct iw_rest rest =
		iw_rest_on((const uint32_t *)&me->ec->word, (uint32_t)me->key);

	rest.bits = 1u << me->place % CLASSES;
	return rest;
}

/* l -> l+1 */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct eventcount_waiter *me = (struct eventcount_waiter *)base;
	uint64_t w;

	if (!me->in_line)
		iw_copy_mend(&layout, me->ec);
	do {
		if (take(me, &w))
			return iw_rest_taken();
		if (me->in_line)
			return rest_in_line(me);
		if (line(w) == LINE_MAX)
			return settle_beyond(me, w);
		/*
		 * ORD eventcount.S1: line and epoch are in one word, so either this CAS sees the
		 * notification or that sees the sleeper, in any order. Seq_cst for notifiers that
		 * only read the word first, lib/queue/blocking.h. Pairs with blocking.S1 and
		 * spsc.S2.
		 */
	} while (!ipcwait_impl_cas64_seq_cst(&me->ec->word, &w, w + LINE_ONE));
	me->place = head(w) + (uint32_t)line(w);
	me->in_line = true;
	return rest_in_line(me);
}

/* g -> g+1, or l -> l-1 */
static bool withdraw(struct iw_waiter *base)
{
	struct eventcount_waiter *me = (struct eventcount_waiter *)base;
	uint64_t w;

	do {
		if (take(me, &w))
			return true;
		/* ORD eventcount.X4: relaxed, no order needed: there was no notification. */
	} while (me->in_line &&
		 !ipcwait_impl_cas64_relaxed(&me->ec->word, &w, without_me(me, w)));
	me->in_line = false;
	return false;
}

static const struct iw_waitable eventcount_waitable = {
	.kind = IPCWAIT_KIND_EVENTCOUNT,
	.resumable = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

int ipcwait_eventcount_commit(struct ipcwait_eventcount *ec, uint64_t key,
			      int64_t deadline_ns)
{
	struct eventcount_waiter me = { .ec = ec, .key = key };
	int r = iw_check(&layout, ec, "ipcwait_eventcount_commit");

	if (r)
		return r;
	if (look(&me.base) == IW_THERE)
		return 0;
	iw_waiter_begin(&me.base, &layout, ec, &eventcount_waitable, deadline_ns,
			IW_CALL_SITE);
	return iw_wait(&me.base);
}

/* The classes of @n places from @first on. */
static uint32_t classes(uint32_t first, uint64_t n)
{
	uint32_t bits = n < CLASSES ? (1u << n) - 1 : ALL_CLASSES;

	first %= CLASSES;
	return first ? bits << first | bits >> (CLASSES - first) : bits;
}

/*
 * The word after a notification of @n, and whom to wake: *@bits, 0 for nobody. Each place whose
 * waiter has gone may be among the first in line, so as many more are notified. If wakes have
 * been under way for too long a process may have died with them: all are notified and woken.
 */
static uint64_t plan(uint64_t w, uint32_t n, bool stale, uint32_t *bits)
{
	bool known = gone(w) < GONE_MAX;
	uint64_t living = line(w) - gone(w), g = known ? gone(w) : 0;
	bool all = stale || n >= living || !known;
	uint64_t m = all ? line(w) : n ? n + g : 0, left = line(w) - m;
	uint64_t k = (stale ? 0 : wakes(w)) + (!known ? 0 : n < living ? n : living);

	*bits = stale ? ALL_CLASSES : classes(head(w), m);
	return (uint32_t)(w + 1) | ((head(w) + m) & HEAD_MASK) * HEAD_ONE |
	       left * LINE_ONE | (g < left ? g : left) * GONE_ONE |
	       (k < WAKES_MAX ? k : WAKES_MAX) * WAKE_ONE;
}

/*
 * e -> e+1 and as plan() says, then wake, for waits of an object of that kind. The CAS is the last
 * access to the event count.
 */
int iw_eventcount_notify(struct ipcwait_eventcount *ec, uint32_t n, enum ipcwait_kind kind)
{
	/* ORD eventcount.X5: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&ec->word), after;
	const char *call = n == UINT32_MAX ? "ipcwait_eventcount_notify_all"
					   : "ipcwait_eventcount_notify";
	struct iw_waker waker;
	uint32_t bits;
	int r = IW_IS_CHECKED || line(w) ? iw_check(&layout, ec, call) : 0;

	if (r)
		return r;
	waker = iw_waker_on(&layout, ec);
	waker.kind = kind;
	do {
		after = plan(w, n, iw_waker_doubts(&waker, wakes(w)), &bits);
		iw_waker_stamp(&waker, bits);
		/*
		 * ORD eventcount.R2: release on success, as eventcount.R1. Pairs with
		 * eventcount.A1 and eventcount.A2.
		 */
	} while (!ipcwait_impl_cas64_release(&ec->word, &w, after));

	/* From here on a waiter may have returned, and freed the event count. */
	if (bits)
		(void)iw_waker_wake_bits(&waker, EVERYBODY, bits);
	else if (wakes(w))
		iw_count(kind, IW_WAKES_AVOIDED, 1);
	return 0;
}

int ipcwait_impl_eventcount_notify_slow(struct ipcwait_eventcount *ec, uint32_t n)
{
	return iw_eventcount_notify(ec, n, IPCWAIT_KIND_EVENTCOUNT);
}

struct ipcwait_eventcount iw_eventcount_private(void)
{
	/* A checked build notes the address too, which it does not have here. */
	uint32_t own = IW_IS_CHECKED ? 0 : iw_copy_own(&layout, NULL);

	return (struct ipcwait_eventcount){ .flags = IPCWAIT_PRIVATE, .reserved = own };
}

int ipcwait_eventcount_init(struct ipcwait_eventcount *ec, unsigned flags)
{
	int r = iw_check_init(&layout, ec, flags, true, "ipcwait_eventcount_init");

	if (r)
		return r;
	*ec = (struct ipcwait_eventcount){ .flags = flags,
					   .reserved = iw_copy_new(&layout, ec, flags) };
	return 0;
}

int ipcwait_eventcount_fini(struct ipcwait_eventcount *ec)
{
	int r = iw_check(&layout, ec, "ipcwait_eventcount_fini");

	if (r)
		return r;
	iw_copy_mend(&layout, ec);
	/* ORD eventcount.X6: relaxed, protected by the caller: nobody else uses it. */
	uint64_t w = ipcwait_impl_load64_relaxed(&ec->word);

	if (line(w) > gone(w) || wakes(w))
		return -EBUSY;
	/* ORD eventcount.X7: relaxed, protected by the caller, as eventcount.X6. */
	ipcwait_impl_store64_relaxed(&ec->word, FINISHED_WORD);
	ec->flags = IW_FLAGS_FINISHED;
	return 0;
}

/*
 * One of the objects that a thread waits for, lib/sync/any.h. futex_waitv(2) knows no classes, so
 * any wake reaches it, in vain perhaps.
 */
static struct eventcount_waiter one_of_several(const struct ipcwait_waitable *o,
					       const struct iw_any_state *state)
{
	return (struct eventcount_waiter){
		.ec = o->object,
		.key = o->expected,
		.place = (uint32_t)state->own,
		.in_line = state->announced,
	};
}

static int any_begin(const struct ipcwait_waitable *o, struct iw_any_state *state,
		     const char *call)
{
	(void)state;
	return o->expected <= UINT32_MAX
		       ? 0
		       : iw_misuse(-EINVAL, layout.kind, o->object, call, IW_OUT_OF_RANGE);
}

static bool any_take(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct eventcount_waiter me = one_of_several(o, state);
	uint64_t w;

	return take(&me, &w);
}

static struct iw_rest any_announce(const struct ipcwait_waitable *o,
				   struct iw_any_state *state)
{
	struct eventcount_waiter me = one_of_several(o, state);
	struct iw_rest rest = settle(&me.base);

	state->own = me.place;
	return rest;
}

static bool any_withdraw(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct eventcount_waiter me = one_of_several(o, state);

	return withdraw(&me.base);
}

/* As withdraw(), but nothing is taken: a notification that reached it is for the next in line. */
static void any_retract(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	const struct eventcount_waiter me = one_of_several(o, state);
	/* ORD eventcount.X8: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&me.ec->word);

	/* ORD eventcount.X9: relaxed, no order needed: notifiers have released. */
	while (!ipcwait_impl_cas64_relaxed(&me.ec->word, &w, without_me(&me, w)))
		continue;
	if (notified(&me, w) && reached(&me, w))
		(void)ipcwait_eventcount_notify(me.ec, 1);
}

const struct iw_any_kind iw_any_eventcount = {
	.layout = &layout,
	.begin = any_begin,
	.take = any_take,
	.announce = any_announce,
	.withdraw = any_withdraw,
	.retract = any_retract,
};
