/* SPDX-License-Identifier: MIT */
/* One wait for several objects. What the steps mean for each kind of object is in its own file;
 * the argument is in docs/design/wait_any.md. */
#include <alloca.h>
#include <errno.h>

#include <ipcwait/wait_any.h>

#include "os/seam.h"
#include "sync/any.h"
#include "sync/object.h"
#include "engine/sleep.h"

_Static_assert(IPCWAIT_WAIT_ANY_MAX == IW_WAITV_MAX, "the kernel's limit");

/*
 * Where the kernel cannot sleep on several words, in ns: the first sleep and the longest. Timers
 * are 50 us late by default, so a first one that is shorter would not be. At last there is one
 * wake-up per millisecond, 20 us of CPU time each on the project's guest: 2 % of a CPU.
 */
#define SLEEP_FIRST_NS 50000
#define SLEEP_MOST_NS  1000000

/* What waits without a window of their own have taught the thread. */
static _Thread_local struct ipcwait_window thread_window IW_TLS_INITIAL_EXEC;

struct any_waiter {
	struct iw_waiter base;
	const struct ipcwait_waitable *set;
	unsigned n;
	unsigned taken;            /* index of what ended the wait */
	struct iw_backoff backoff; /* of sleeps on the first word only */
	struct iw_waitv *word;     /* what to sleep on, of those announced */
	struct iw_any_state *state;
	struct iw_any_fds fds;
};

static int refuse(const void *o, const char *call, const char *what)
{
	(void)iw_misuse(-EINVAL, IPCWAIT_KIND_WAIT_ANY, o, call, what);
	return -EINVAL;
}

static const struct iw_any_kind *const kinds[] = {
	[IPCWAIT_WAITABLE_FUTEX] = &iw_any_futex,
	[IPCWAIT_WAITABLE_SEM] = &iw_any_sem,
	[IPCWAIT_WAITABLE_EVENT] = &iw_any_event,
	[IPCWAIT_WAITABLE_EVENTCOUNT] = &iw_any_eventcount,
	[IPCWAIT_WAITABLE_FD] = &iw_any_fd,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Kinds of objects that the library makes, as they are admitted. */
#define MADE_KINDS 4

static struct ipcwait_word64 made[MADE_KINDS];

void iw_any_admit(const struct iw_any_kind *kind)
{
	for (unsigned i = 0; i < MADE_KINDS; i++) {
		uint64_t known = 0;

		/* ORD wait_any.X1: relaxed, no order needed: only the address is looked at. */
		if (ipcwait_impl_cas64_relaxed(&made[i], &known, (uintptr_t)kind) ||
		    known == (uintptr_t)kind)
			return;
	}
}

/* Of an object with such a pointer; NULL if it is none. Trusts nothing but that it can be read. */
static const struct iw_any_kind *made_kind(const struct ipcwait_waitable *o)
{
	const struct iw_any_kind *kind;

	if ((uintptr_t)o->object % _Alignof(void *))
		return NULL;
	kind = *(const struct iw_any_kind *const *)o->object;
	for (unsigned i = 0; kind && i < MADE_KINDS; i++)
		/* ORD wait_any.X2: relaxed, no order needed, as wait_any.X1. */
		if (ipcwait_impl_load64_relaxed(&made[i]) == (uintptr_t)kind)
			return kind->type == o->type ? kind : NULL;
	return NULL;
}

static const struct iw_any_kind *kind_at(const struct ipcwait_waitable *o)
{
	const struct iw_any_kind *kind = kinds[o->type];

	return kind ? kind : *(const struct iw_any_kind *const *)o->object;
}

static const struct iw_any_kind *kind_of(const struct any_waiter *me, unsigned i)
{
	return kind_at(&me->set[i]);
}

/* Object @i is the caller's; from the others the thread is gone. */
static bool end_with(struct any_waiter *me, unsigned i)
{
	me->taken = i;
	me->state[i].announced = false;
	for (i = 0; i < me->n; i++) {
		if (me->state[i].announced)
			kind_of(me, i)->retract(&me->set[i], &me->state[i]);
		me->state[i].announced = false;
	}
	return true;
}

/* A wake ends the wait for a raw word, whatever the word holds. */
static bool take(struct any_waiter *me, unsigned i)
{
	if (i == me->base.woken_on && me->base.woken &&
	    me->set[i].type == IPCWAIT_WAITABLE_FUTEX)
		return true;
	return kind_of(me, i)->take(&me->set[i], &me->state[i]);
}

/* That for which it was woken first: else its wake would have to be passed on. */
static bool take_any(struct any_waiter *me)
{
	if (me->base.woken && take(me, me->base.woken_on))
		return end_with(me, me->base.woken_on);
	for (unsigned i = 0; i < me->n; i++)
		if (take(me, i))
			return end_with(me, i);
	return false;
}

static enum iw_seen look(struct iw_waiter *base)
{
	return take_any((struct any_waiter *)base) ? IW_THERE : IW_AWAY;
}

/*
 * On @n words. Where that is not all, because the kernel cannot, it is not for long, and without
 * a spin after it, which would take more than those sleeps do.
 */
static struct iw_rest rest_on_words(struct any_waiter *me, const uint32_t *first,
				    unsigned n)
{
	struct iw_rest rest = iw_rest_on(first, (uint32_t)me->word->expected);

	me->base.private_ = me->word->flags & IW_WAITV_PRIVATE;
	rest.n = n;
	rest.several = me->word;
	if (n == me->n)
		return rest;
	rest.until_ns =
		iw_clock_ns() + iw_back_off(&me->backoff, SLEEP_FIRST_NS, SLEEP_MOST_NS);
	rest.may_spin = false;
	return rest;
}

static bool is_private(const struct ipcwait_waitable *o)
{
	const struct iw_any_kind *kind = kind_at(o);
	const struct iw_layout *layout = kind->layout;

	if (kind->made)
		return kind->private_;
	return (layout ? iw_flags(layout, o->object) : o->flags) & IPCWAIT_PRIVATE;
}

/*
 * Not a raw word: what a lost wake for it meant is the caller's affair. Who tells of descriptors
 * can be cut off from them, by a program that closes what is not its own.
 */
static bool is_mortal(const struct ipcwait_waitable *o)
{
	return (kind_at(o)->layout && !is_private(o)) || o->type == IPCWAIT_WAITABLE_FD;
}

/*
 * Objects may come and go while others are announced. The kernel compares all words with what
 * they held when the thread was counted in, so a wake that was sent since then keeps it awake.
 */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct any_waiter *me = (struct any_waiter *)base;
	unsigned n = iw_sleeps_on_several() ? me->n : 1;
	int64_t until_ns = IPCWAIT_FOREVER;
	const uint32_t *first = NULL;
	struct iw_rest all;

	for (unsigned i = 0; i < n; i++) {
		struct iw_rest rest = kind_of(me, i)->announce(&me->set[i], &me->state[i]);

		if (rest.taken)
			(void)end_with(me, i);
		if (!rest.word)
			return rest;
		me->state[i].announced = true;
		me->base.mortal |= is_mortal(&me->set[i]);
		first = first ? first : rest.word;
		me->word[i] = iw_waitv(rest.word, rest.expected, is_private(&me->set[i]));
		if (rest.until_ns < until_ns)
			until_ns = rest.until_ns;
	}
	all = rest_on_words(me, first, n);
	if (until_ns < all.until_ns)
		all.until_ns = until_ns;
	return all;
}

static bool withdraw(struct iw_waiter *base)
{
	struct any_waiter *me = (struct any_waiter *)base;

	for (unsigned i = 0; i < me->n; i++) {
		const struct iw_any_kind *kind = kind_of(me, i);
		bool taken = me->state[i].announced
				     ? kind->withdraw(&me->set[i], &me->state[i])
				     : kind->take(&me->set[i], &me->state[i]);

		me->state[i].announced = false;
		if (taken)
			return end_with(me, i);
	}
	return false;
}

/* Not resumable: a wake that changes nothing in a raw word would be lost on a waiter that is up. */
static const struct iw_waitable any_waitable = {
	.kind = IPCWAIT_KIND_WAIT_ANY,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

/* The same where there are descriptors: a look is a system call. */
static const struct iw_waitable any_waitable_in_kernel = {
	.kind = IPCWAIT_KIND_WAIT_ANY,
	.in_kernel = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

static bool is_word(const struct ipcwait_waitable *o)
{
	return o->type <= IPCWAIT_WAITABLE_EVENTCOUNT;
}

static int begin(struct any_waiter *me, unsigned i, const char *call)
{
	const struct ipcwait_waitable *o = &me->set[i];
	struct iw_any_state *state = &me->state[i];
	unsigned type = (unsigned)o->type;
	const struct iw_any_kind *kind;
	int r = 0;

	if (type >= KINDS)
		return refuse(o, call, "unknown type");
	if (!o->object)
		return refuse(o, call, IW_NULL);
	kind = kinds[type] ? kinds[type] : made_kind(o);
	if (!kind)
		return refuse(o, call, "no such object");
	if (o->flags & (kind->layout || kind->made ? ~0u : ~IPCWAIT_PRIVATE))
		return refuse(o, call, IW_UNKNOWN_FLAGS);
	*state = (struct iw_any_state){ .own = (uintptr_t)&me->fds };
	if (type == IPCWAIT_WAITABLE_FD)
		me->base.what = &any_waitable_in_kernel;
	if (kind->layout)
		r = iw_check(kind->layout, o->object, call);
	return r || !kind->begin ? r : kind->begin(o, state, call);
}

int iw_wait_any_check(const void *set, unsigned n, const char *call)
{
	if (set && n > 0 && n <= IPCWAIT_WAIT_ANY_MAX)
		return 0;
	return refuse(set, call, set ? IW_OUT_OF_RANGE : IW_NULL);
}

int iw_wait_any(const struct ipcwait_waitable *set, unsigned n, int64_t deadline_ns,
		struct ipcwait_window *w, uintptr_t site, const char *call)
{
	/* 40 bytes for each object: most sets are small, and so are some threads' stacks. */
	struct iw_waitv *word = alloca(n * sizeof(*word));
	struct iw_any_state *state = alloca(n * sizeof(*state));
	struct any_waiter me = {
		.base = {
			.what = &any_waitable,
			.window = w ? w : &thread_window,
			.futex = n == 1 && is_word(&set[0]) ? set[0].object : NULL,
			.deadline_ns = deadline_ns,
			.site = site,
		},
		.set = set,
		.n = n,
		.state = state,
		.word = word,
		.fds = { .set = set, .n = n },
	};
	int r = 0;

	for (unsigned i = 0; i < n && r == 0; i++)
		r = begin(&me, i, call);
	if (r == 0 && !take_any(&me))
		r = iw_wait(&me.base);
	return r ? r : (int)me.taken;
}

int ipcwait_wait_any(const struct ipcwait_waitable *set, unsigned n, int64_t deadline_ns,
		     struct ipcwait_window *w)
{
	int r = iw_wait_any_check(set, n, "ipcwait_wait_any");

	if (r == 0 && (uintptr_t)w % 8)
		r = refuse(set, "ipcwait_wait_any", "misaligned window");
	return r ? r
		 : iw_wait_any(set, n, deadline_ns, w, IW_CALL_SITE, "ipcwait_wait_any");
}
