/* SPDX-License-Identifier: MIT */
/* The condition variable's waiters. The state table is in <ipcwait/cond.h>, the argument in
 * docs/design/cond.md. */
#include "sync/cond_wait.h"
#include "sync/cond_word.h"

#include "os/seam.h"
#include "sync/copy.h"
#include "sync/mutex_word.h"
#include "sync/object.h"

IW_ASSERT_LAYOUT(struct ipcwait_cond, 48);
_Static_assert(offsetof(struct ipcwait_cond, arrivals) == 8, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_cond, out) == 32, "shared-memory layout 0");

/*
 * How long ipcwait_cond_fini() waits for waiters that were released, in ns, if they may have been
 * killed: they need a few instructions.
 */
#define DRAIN_NS 1000000000

/*
 * SERVED, for the upper bits of a ticket. Read between the load of ISSUED and the CAS that issues
 * the ticket: if that succeeds, nobody was issued one meanwhile, and SERVED was not far from it,
 * however long the thread was stopped before or after.
 */
static uint64_t served_near(const struct iw_cond_waiter *me)
{
	/* ORD cond.X1: relaxed, no order needed: off by less than 2^31 either way is right. */
	return ipcwait_impl_load64_relaxed(&me->cond->word);
}

/*
 * The waiter has got the ticket that is ISSUED in @arrivals, when SERVED was as in @w. It begins
 * no spin: a signal that serves a ticket makes a system call.
 */
static void hold_ticket(struct iw_cond_waiter *me, uint64_t w, uint64_t arrivals)
{
	int32_t ahead = (int32_t)cond_waiting(w, arrivals);

	me->ticket = (w + (uint64_t)(int64_t)ahead) & COND_SERVED_MASK;
	me->turn = 0;
	me->taken++;
	me->base.futex = (const uint32_t *)&me->cond->word;
}

/* SPINNER 0 -> 1, or i -> i+1 beside a spinner. From here on a signal can release the waiter. */
static void enter(struct iw_cond_waiter *me)
{
	/* ORD cond.X2: relaxed, re-checked by the CAS below. */
	uint64_t a = ipcwait_impl_load64_relaxed(&me->cond->arrivals), next, w;
	uint32_t turn;

	do {
		w = served_near(me);
		turn = ((uint32_t)a + COND_TURN_ONE) | COND_SPINNER;
		if (a & COND_SPINNER)
			next = a + COND_ISSUED_ONE;
		else
			next = (a & ~(uint64_t)UINT32_MAX) | turn;
		/* ORD cond.X3: relaxed, protected by the mutex: a signal comes after it. */
	} while (!ipcwait_impl_cas64_relaxed(&me->cond->arrivals, &a, next));
	if (a & COND_SPINNER) {
		hold_ticket(me, w, a);
		return;
	}
	me->turn = turn;
	me->taken++;
	me->base.futex = (const uint32_t *)&me->cond->arrivals;
}

static bool released(const struct iw_cond_waiter *me)
{
	if (me->turn) {
		/* ORD cond.A1: acquire, to see what came before the signal. Pairs with
		 * cond_wake.R1. */
		uint64_t a = ipcwait_impl_load64_acquire(&me->cond->arrivals);

		return (uint32_t)a != me->turn;
	}
	/* ORD cond.A2: acquire, as cond.A1. Pairs with cond_wake.R2, cond_wake.R3 and cond.R1. */
	return cond_served(ipcwait_impl_load64_acquire(&me->cond->word), me->ticket);
}

/* Looks and deadlines of the engine leave turn and ticket alone: see leave(). */
static enum iw_seen look(struct iw_waiter *base)
{
	const struct iw_cond_waiter *me = (const struct iw_cond_waiter *)base;

	if (released(me))
		return IW_THERE;
	return me->turn ? IW_AWAY : IW_AWAY_CROWDED;
}

/*
 * SPINNER 1 -> 0 as the last one in a wait without a ticket, i -> i+1 if it is to get one. False
 * if a signal was faster.
 */
static bool end_turn(struct iw_cond_waiter *me, uint64_t issue)
{
	uint64_t a, w;

	do {
		/* ORD cond.A3: acquire, as cond.A1. Pairs with cond_wake.R1. */
		a = ipcwait_impl_load64_acquire(&me->cond->arrivals);
		if ((uint32_t)a != me->turn)
			return false;
		w = served_near(me);
		/* ORD cond.X4: relaxed, no order needed: nothing was taken. */
	} while (!ipcwait_impl_cas64_relaxed(&me->cond->arrivals, &a,
					     (a & ~COND_SPINNER) + issue));
	if (issue)
		hold_ticket(me, w, a);
	return true;
}

/*
 * SPINNER 1 -> 0, i -> i+1 in one step, so that no signal can find the waiter in both places or
 * in none. To sleep nothing more is published: whoever holds a ticket is taken for a sleeper.
 */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct iw_cond_waiter *me = (struct iw_cond_waiter *)base;
	struct iw_rest rest;
	uint64_t w;

	if (me->turn && !end_turn(me, COND_ISSUED_ONE))
		return iw_rest_taken();
	/* ORD cond.A4: acquire, as cond.A2. Pairs with cond_wake.R2, cond_wake.R3 and cond.R1. */
	w = ipcwait_impl_load64_acquire(&me->cond->word);
	if (cond_served(w, me->ticket))
		return iw_rest_taken();
	rest = iw_rest_on(base->futex, (uint32_t)w);
	rest.bits = cond_class(me->ticket);
	rest.may_spin = false;
	return rest;
}

static const struct iw_waitable cond_waitable = {
	.kind = IPCWAIT_KIND_COND,
	.look = look,
	.settle = settle,
};

/*
 * The ticket counts no more. Returns the word without it, which is always another: a signal that
 * releases all, and forgets what GONE and DEEP say, must fail if it does not know the ticket.
 */
static uint64_t without_ticket(uint64_t w, uint64_t ticket)
{
	uint32_t ahead = (uint32_t)ticket - (uint32_t)w;

	if (ahead >= COND_GONE_BITS || cond_gone(w) >> ahead & 1)
		return w + COND_DEEP_ONE;
	return cond_skip(w | UINT64_C(1) << (COND_GONE_SHIFT + ahead));
}

/*
 * GONE bit t-s 0 -> 1, or DEEP + 1 if there is no such bit. If there have been too many of those
 * it releases everybody, and itself. False if a signal was faster.
 */
static bool return_ticket(const struct iw_cond_waiter *me)
{
	for (;;) {
		/* ORD cond.A5: acquire, as cond.A2. Pairs with cond_wake.R2, cond_wake.R3 and
		 * cond.R1. */
		uint64_t w = ipcwait_impl_load64_acquire(&me->cond->word);
		uint64_t next = without_ticket(w, me->ticket);

		if (cond_served(w, me->ticket))
			return false;
		if ((w & COND_DEEP_MASK) == COND_DEEP_MASK && !(next & COND_DEEP_MASK))
			iw_cond_release_tickets(me->cond);
		/*
		 * ORD cond.R1: release on success, so that whoever sees SERVED beyond a ticket
		 * also sees that it was issued. Pairs with cond_wake.A1, cond_wait.A1, cond.A2,
		 * cond.A4 and cond.A5.
		 */
		else if (ipcwait_impl_cas64_release(&me->cond->word, &w, next))
			return true;
	}
}

/* False if a signal has released the waiter meanwhile. */
static bool give_up(struct iw_cond_waiter *me)
{
	return me->turn ? end_turn(me, 0) : return_ticket(me);
}

/* The last touch of the condition variable. */
static void leave(const struct iw_cond_waiter *me)
{
	/* ORD cond.R2: release, so that the memory may go. Pairs with cond.A6. */
	(void)ipcwait_impl_add32_release(&me->cond->out, me->taken);
}

/* Unlocks @m however often the caller has locked it. *@more is how often more than once. */
static int unlock_all(struct ipcwait_mutex *m, uint16_t *more)
{
	uint16_t left;
	int r;

	*more = 0;
	if (!(m->flags & IPCWAIT_RECURSIVE))
		return ipcwait_mutex_unlock(m);
	do {
		left = m->count;
		r = ipcwait_mutex_unlock(m);
	} while (r == 0 && left && ++*more);
	return r;
}

static int lock_again(struct ipcwait_mutex *m, uint16_t more, uintptr_t site, int r)
{
	int locked = iw_mutex_lock_from(m, site);

	if (locked && locked != -EOWNERDEAD)
		return locked;
	if (more)
		m->count = more;
	return locked ? locked : r;
}

void iw_cond_enter(struct iw_cond_waiter *me, struct ipcwait_cond *c, int64_t deadline_ns,
		   uintptr_t site)
{
	iw_copy_mend(&cond_layout, c);
	iw_waiter_begin(&me->base, &cond_layout, c, &cond_waitable, deadline_ns, site);
	me->cond = c;
	enter(me);
}

void iw_cond_take_back(struct iw_cond_waiter *me)
{
	if (!give_up(me))
		(void)ipcwait_cond_signal(me->cond);
	leave(me);
}

int iw_cond_await(struct iw_cond_waiter *me)
{
	int r = iw_wait(&me->base);

	if (r && !give_up(me))
		r = 0;
	leave(me);
	return r;
}

static int wait_until(struct ipcwait_cond *c, struct ipcwait_mutex *m, int64_t deadline_ns,
		      uintptr_t site, const char *call)
{
	struct iw_cond_waiter me = { 0 };
	int r = iw_check(&cond_layout, c, call);
	uint16_t more;

	if (r)
		return r;
	if (!m || !mutex_usable(m))
		return iw_misuse(-EINVAL, IPCWAIT_KIND_COND, c, call, "no usable mutex");
	iw_cond_enter(&me, c, deadline_ns, site);
	r = unlock_all(m, &more);
	if (r) {
		iw_cond_take_back(&me);
		return r;
	}
	return lock_again(m, more, site, iw_cond_await(&me));
}

int ipcwait_cond_wait(struct ipcwait_cond *c, struct ipcwait_mutex *m)
{
	return wait_until(c, m, IPCWAIT_FOREVER, IW_CALL_SITE, "ipcwait_cond_wait");
}

int ipcwait_cond_wait_until(struct ipcwait_cond *c, struct ipcwait_mutex *m,
			    int64_t deadline_ns)
{
	return wait_until(c, m, deadline_ns, IW_CALL_SITE, "ipcwait_cond_wait_until");
}

int ipcwait_cond_init(struct ipcwait_cond *c, unsigned flags)
{
	struct ipcwait_cond fresh = IPCWAIT_COND_INIT;
	int r = iw_check_init(&cond_layout, c, flags, true, "ipcwait_cond_init");

	if (r)
		return r;
	fresh.flags = flags;
	fresh.reserved = iw_copy_new(&cond_layout, c, flags);
	*c = fresh;
	return 0;
}

/* Whoever ends it waits for the released waiters to be out. */
struct drain {
	struct iw_waiter base;
	struct ipcwait_cond *cond;
};

static bool drained(const struct ipcwait_cond *c)
{
	/* ORD cond.A6: acquire, so that what they did with it is over. Pairs with cond.R2. */
	uint32_t out = ipcwait_impl_load32_acquire(&c->out);

	/* ORD cond.X5: relaxed, protected by the caller: nobody else begins to wait. */
	return cond_all_out(out, ipcwait_impl_load64_relaxed(&c->arrivals));
}

static enum iw_seen look_at_end(struct iw_waiter *base)
{
	return drained(((const struct drain *)base)->cond) ? IW_THERE : IW_AWAY;
}

/* They wake nobody when they leave, which is never long in coming. */
static struct iw_rest settle_at_end(struct iw_waiter *base)
{
	return look_at_end(base) == IW_THERE ? iw_rest_taken() : iw_rest_unpublished();
}

static const struct iw_waitable drain_waitable = {
	.kind = IPCWAIT_KIND_COND,
	.look = look_at_end,
	.settle = settle_at_end,
};

/*
 * @known: all who waited were released. Those of the own process come, however late, and there
 * are no others in a private one if the parent's can be told from them.
 */
static int drain(struct ipcwait_cond *c, bool known)
{
	struct iw_waker waker = iw_waker_on(&cond_layout, c);
	struct ipcwait_window untaught = { 0 };
	struct drain me = { .cond = c };

	if (drained(c))
		return 0;
	/* A broadcast that was killed may have left somebody asleep. */
	iw_waker_wake(&waker, UINT32_MAX);
	iw_waiter_begin(&me.base, &cond_layout, c, &drain_waitable, IPCWAIT_FOREVER, 0);
	me.base.window = &untaught;
	if (!known || !me.base.private_ || !iw_process_generation())
		me.base.deadline_ns = iw_clock_ns() + DRAIN_NS;
	return iw_wait(&me.base);
}

static int drain_if_idle(struct ipcwait_cond *c)
{
	iw_copy_mend(&cond_layout, c);
	/* ORD cond.X6: relaxed, protected by the caller, as cond.X5. */
	uint64_t w = ipcwait_impl_load64_relaxed(&c->word);
	/* ORD cond.X7: relaxed, protected by the caller, as cond.X5. */
	uint64_t a = ipcwait_impl_load64_relaxed(&c->arrivals);
	bool known = !cond_waiting(w, a);

	/* With GONE full it is not known whether anybody waits. */
	if (a & COND_SPINNER || (!known && cond_gone(w) != COND_GONE_FULL))
		return -EBUSY;
	return drain(c, known);
}

void iw_cond_drain(struct ipcwait_cond *c)
{
	(void)drain_if_idle(c);
}

int ipcwait_cond_fini(struct ipcwait_cond *c)
{
	int r = iw_check(&cond_layout, c, "ipcwait_cond_fini");

	if (r)
		return r;
	r = drain_if_idle(c);
	if (r)
		return r == -ETIMEDOUT ? -EBUSY : r;
	c->flags = IW_FLAGS_FINISHED;
	return 0;
}
