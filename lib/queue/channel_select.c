/* SPDX-License-Identifier: MIT */
/*
 * One of several sends and receives. In channels with a buffer it waits in the lines of their event
 * counts, as lib/queue/blocking.c does in one; in those without as a party with offers, which is
 * BUSY whenever it takes something itself. The argument is in docs/design/channel.md.
 */
#include <errno.h>

#include "engine/sleep.h"
#include "os/seam.h"
#include "queue/blocking.h"
#include "queue/channel_eventfd.h"
#include "queue/channel_meet.h"
#include "queue/channel_select.h"
#include "sync/object.h"

/* Most selects have so many cases at most; others take more of the stack. */
#define FEW 8

/* Where the kernel cannot sleep on several words, in ns: as in lib/sync/wait_any.c. */
#define SLEEP_FIRST_NS 50000
#define SLEEP_MOST_NS  1000000

/* What one case waits with. */
struct place {
	struct ipcwait_waitable
		line; /* of a channel with a buffer: its event count, and the key */
	struct iw_any_state in_line;
	bool notified;         /* in line, and no attempt has been made since it left */
	struct iw_offer offer; /* of one without */
};

struct select {
	struct iw_waiter base;
	struct ipcwait_channel_case *cases;
	unsigned n, first; /* which is tried first */
	unsigned done;     /* the case that was done; n: none yet */
	bool waits;        /* it makes offers */
	bool meets, lines; /* it has cases of channels without a buffer, and with */
	struct iw_party party;
	struct iw_backoff backoff;
	struct place *place;
	struct iw_waitv *word; /* to sleep on: one more than there are lines, at most */
};

/* What waits of several cases have taught the thread. */
static _Thread_local struct ipcwait_window thread_window IW_TLS_INITIAL_EXEC;

static bool meets(const struct ipcwait_channel_case *c)
{
	return c->channel && c->channel->meeting;
}

static bool has_line(const struct ipcwait_channel_case *c)
{
	return c->channel && !c->channel->meeting;
}

static struct ipcwait_eventcount *event_count_of(const struct ipcwait_channel_case *c)
{
	return c->op == IPCWAIT_CHANNEL_SEND ? c->channel->room : c->channel->elements;
}

static bool done(struct select *me, unsigned i, int64_t result)
{
	me->cases[i].result = result < 0 ? (int)result : 0;
	me->done = i;
	return true;
}

static bool attempt(struct select *me, unsigned i)
{
	struct ipcwait_channel_case *c = &me->cases[i];
	struct ipcwait_channel *ch = c->channel;
	int64_t r;

	if (!ch)
		return false;
	if (ch->meeting)
		r = iw_meet(ch, c->op, c->elem, me->waits ? &me->place[i].offer : NULL);
	else if (c->op == IPCWAIT_CHANNEL_SEND)
		r = ch->ops->send(ch, c->elem, 1);
	else
		r = ch->ops->recv(ch, c->elem, 1);
	if (r == -EAGAIN)
		return false;
	if (r > 0 && c->op == IPCWAIT_CHANNEL_SEND && !ch->meeting)
		iw_channel_alarm(ch);
	return done(me, i, r);
}

static bool attempt_all(struct select *me, bool meetings_too)
{
	for (unsigned k = 0, i = me->first; k < me->n; k++) {
		if ((meetings_too || !meets(&me->cases[i])) && attempt(me, i))
			return true;
		i = i + 1 < me->n ? i + 1 : 0;
	}
	return false;
}

/* Out of all lines. A notification that has reached it there is used up by the next attempt. */
static void leave(struct select *me)
{
	for (unsigned i = 0; me->lines && i < me->n; i++) {
		struct place *p = &me->place[i];

		if (p->in_line.announced)
			p->notified = iw_any_eventcount.withdraw(&p->line, &p->in_line);
		p->in_line.announced = false;
	}
}

/*
 * After an attempt that has done a case, outside of all lines. Other cases' notifications were for
 * what is there still.
 */
static bool pass_on(struct select *me)
{
	for (unsigned i = 0; me->lines && i < me->n; i++) {
		if (me->place[i].notified && i != me->done)
			(void)ipcwait_eventcount_notify(me->place[i].line.object, 1);
		me->place[i].notified = false;
	}
	return true;
}

/* The same after one that was made in line, where the case itself may have been there before. */
static bool retract(struct select *me)
{
	for (unsigned i = 0; me->lines && i < me->n; i++) {
		struct place *p = &me->place[i];

		if (p->in_line.announced)
			iw_any_eventcount.retract(&p->line, &p->in_line);
		p->in_line.announced = false;
	}
	return true;
}

/* Its notifications have found nothing: they are used up. */
static bool nothing(struct select *me)
{
	for (unsigned i = 0; me->lines && i < me->n; i++)
		me->place[i].notified = false;
	return false;
}

/* The partner has done it, or is about to. */
static bool accepted(struct select *me)
{
	unsigned i = iw_party_accepted(&me->party);

	iw_meet_await(me->cases[i].channel);
	(void)done(me, i, me->place[i].offer.result);
	leave(me);
	return pass_on(me);
}

/* Offers are open from now on, unless something was done while the party was busy. */
static bool open(struct select *me)
{
	while (!iw_party_open(&me->party))
		if (attempt_all(me, true))
			return true;
	for (unsigned i = 0; i < me->n; i++)
		if (meets(&me->cases[i]) && me->cases[i].op == IPCWAIT_CHANNEL_SEND)
			iw_meet_tell(me->cases[i].channel);
	return false;
}

/* In no line, and busy. */
static bool attempt_outside(struct select *me)
{
	leave(me);
	if (attempt_all(me, false))
		return pass_on(me);
	(void)nothing(me);
	return me->meets && open(me);
}

static bool attempt_again(struct select *me)
{
	return me->meets && !iw_party_claim(&me->party) ? accepted(me)
							: attempt_outside(me);
}

static enum iw_seen look(struct iw_waiter *base)
{
	struct select *me = (struct select *)base;
	unsigned i;

	if (me->lines)
		return attempt_again(me) ? IW_THERE : IW_AWAY;
	if (!iw_party_done(&me->party, &i))
		return IW_AWAY;
	(void)done(me, i, me->place[i].offer.result);
	return IW_THERE;
}

static bool withdraw(struct iw_waiter *base)
{
	return attempt_again((struct select *)base);
}

/* Into the line of case @i: how it would rest there alone. */
static struct iw_rest enter(struct place *p)
{
	struct iw_rest rest;

	do {
		p->line.expected = ipcwait_eventcount_prepare(p->line.object);
		rest = iw_any_eventcount.announce(&p->line, &p->in_line);
	} while (rest.taken);
	p->in_line.announced = rest.word;
	return rest;
}

static bool is_private(const struct ipcwait_eventcount *ec)
{
	return ec->flags & IPCWAIT_PRIVATE;
}

/* Into all lines. Returns how many words there are to sleep on; 0: a line is full. */
static unsigned enter_all(struct select *me)
{
	unsigned n = 0;

	for (unsigned i = 0; me->lines && i < me->n; i++) {
		struct ipcwait_eventcount *ec;
		struct iw_rest rest;

		if (!has_line(&me->cases[i]))
			continue;
		ec = event_count_of(&me->cases[i]);
		rest = enter(&me->place[i]);
		if (!rest.word)
			return 0;
		me->word[n++] = iw_waitv(rest.word, rest.expected, is_private(ec));
	}
	/* Of a select without a channel nobody wakes it. */
	if (me->meets || !n)
		me->word[n++] = iw_waitv((const uint32_t *)&me->party.state,
					 me->meets ? IW_PARTY_ASLEEP : IW_PARTY_BUSY, true);
	return n;
}

static int64_t nap_ns(const struct select *me)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < me->n; i++) {
		int64_t own = me->cases[i].channel ? me->cases[i].channel->ops->nap_ns : 0;

		if (own && (!ns || own < ns))
			ns = own;
	}
	return ns;
}

static struct iw_rest rest_on_words(struct select *me, unsigned n)
{
	struct iw_rest rest;
	int64_t nap;

	if (!n)
		return iw_rest_unpublished();
	rest = iw_rest_on((const uint32_t *)(uintptr_t)me->word->address,
			  (uint32_t)me->word->expected);
	me->base.private_ = me->word->flags & IW_WAITV_PRIVATE;
	rest.several = me->word;
	rest.n = n;
	nap = nap_ns(me);
	if (n > 1 && !iw_sleeps_on_several()) {
		nap = iw_back_off(&me->backoff, SLEEP_FIRST_NS, SLEEP_MOST_NS);
		rest.n = 1;
		rest.may_spin = false;
	}
	if (nap)
		rest.until_ns = iw_clock_ns() + nap;
	return rest;
}

/* True: done. The look before has left all lines. */
static bool settled(struct select *me, unsigned *words)
{
	if (me->lines && me->meets && !iw_party_claim(&me->party))
		return accepted(me);
	*words = enter_all(me);
	if (me->lines && attempt_all(me, false))
		return retract(me);
	if (!me->meets)
		return false;
	if (me->lines && open(me))
		return retract(me);
	return !iw_party_doze(&me->party) && accepted(me);
}

static struct iw_rest settle(struct iw_waiter *base)
{
	struct select *me = (struct select *)base;
	unsigned words = 0;

	return settled(me, &words) ? iw_rest_taken() : rest_on_words(me, words);
}

static const struct iw_waitable select_waitable = {
	.kind = IPCWAIT_KIND_CHANNEL,
	.resumable = true,
	.restarts = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

static void prepare(struct select *me)
{
	for (unsigned i = 0; i < me->n; i++) {
		struct ipcwait_channel_case *c = &me->cases[i];
		struct place *p = &me->place[i];

		p->in_line.announced = p->notified = p->offer.linked = false;
		p->line = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_EVENTCOUNT };
		p->offer.party = &me->party;
		p->offer.elem = c->elem;
		p->offer.index = i;
		if (has_line(c))
			p->line.object = event_count_of(c);
		me->lines |= has_line(c);
		me->meets |= meets(c);
	}
	/* ORD channel_select.X1: relaxed, no order needed: it has no offers yet. */
	ipcwait_impl_store64_relaxed(&me->party.state, IW_PARTY_BUSY);
}

/* Nobody may come to the party any more. */
static void finish(struct select *me)
{
	for (unsigned i = 0; me->meets && i < me->n; i++)
		if (meets(&me->cases[i]))
			iw_meet_not(me->cases[i].channel, me->cases[i].op,
				    &me->place[i].offer);
}

static int run(struct select *me)
{
	int r = 0;

	prepare(me);
	me->waits = me->base.deadline_ns == IPCWAIT_FOREVER ||
		    (me->base.deadline_ns > 0 && me->base.deadline_ns > iw_clock_ns());
	if (!attempt_all(me, true) && !me->waits)
		return -ETIMEDOUT;
	if (me->done == me->n && !(me->meets && open(me)))
		r = iw_wait(&me->base);
	if (r && me->meets && !iw_party_claim(&me->party) && accepted(me))
		r = 0;
	finish(me);
	return r ? r : (int)me->done;
}

static int run_few(struct select *me)
{
	struct iw_waitv word[FEW + 1];
	struct place place[FEW];

	me->word = word;
	me->place = place;
	return run(me);
}

static __attribute__((noinline)) int run_many(struct select *me)
{
	struct iw_waitv word[IPCWAIT_WAIT_ANY_MAX + 1];
	struct place place[IPCWAIT_WAIT_ANY_MAX];

	me->word = word;
	me->place = place;
	return run(me);
}

int iw_channel_select(struct ipcwait_channel_case *cases, unsigned n, int64_t deadline_ns,
		      struct ipcwait_window *w, uintptr_t site)
{
	struct select me = {
		.base = { .what = &select_waitable,
			  .window = w,
			  .deadline_ns = deadline_ns,
			  .site = site },
		.cases = cases,
		.n = n,
		.done = n,
		.party = { .window = w },
	};

	/* 2^64 divided by the golden ratio: the lowest digits of the counter are not random. */
	if (n > 1)
		me.first =
			(unsigned)(iw_arch_ticks() * UINT64_C(0x9e3779b97f4a7c15) >> 40) %
			n;
	return n <= FEW ? run_few(&me) : run_many(&me);
}

static bool is_valid(const struct ipcwait_channel_case *c)
{
	return !c->channel || (c->elem && (c->op == IPCWAIT_CHANNEL_SEND ||
					   c->op == IPCWAIT_CHANNEL_RECV));
}

int ipcwait_channel_select(struct ipcwait_channel_case *cases, unsigned n,
			   int64_t deadline_ns)
{
	if (!cases || !n || n > IPCWAIT_WAIT_ANY_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		if (!is_valid(&cases[i]))
			return -EINVAL;
	return iw_channel_select(cases, n, deadline_ns, &thread_window, IW_CALL_SITE);
}
