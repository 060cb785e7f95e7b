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

/* Where the kernel cannot sleep on several words, in ns: as in lib/sync/wait_any.c. */
#define SLEEP_FIRST_NS 50000
#define SLEEP_MOST_NS  1000000

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

static bool done(struct iw_select *me, unsigned i, int64_t result)
{
	me->cases[i].result = result < 0 ? (int)result : 0;
	me->done = i;
	return true;
}

static bool attempt(struct iw_select *me, unsigned i)
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

static bool attempt_all(struct iw_select *me, bool meetings_too)
{
	for (unsigned k = 0, i = me->first; k < me->n; k++) {
		if ((meetings_too || !meets(&me->cases[i])) && attempt(me, i))
			return true;
		i = i + 1 < me->n ? i + 1 : 0;
	}
	return false;
}

/* Out of all lines. A notification that has reached it there is used up by the next attempt. */
static void leave(struct iw_select *me)
{
	for (unsigned i = 0; me->lines && i < me->n; i++) {
		struct iw_place *p = &me->place[i];

		if (p->in_line.announced)
			p->notified = iw_any_eventcount.withdraw(&p->line, &p->in_line);
		p->in_line.announced = false;
	}
}

/*
 * After an attempt that has done a case, outside of all lines. Other cases' notifications were for
 * what is there still.
 */
static bool pass_on(struct iw_select *me)
{
	for (unsigned i = 0; me->lines && i < me->n; i++) {
		if (me->place[i].notified && i != me->done)
			(void)iw_eventcount_notify(me->place[i].line.object, 1,
						   IPCWAIT_KIND_CHANNEL);
		me->place[i].notified = false;
	}
	return true;
}

/* The same after one that was made in line, where the case itself may have been there before. */
static bool retract(struct iw_select *me)
{
	for (unsigned i = 0; me->lines && i < me->n; i++) {
		struct iw_place *p = &me->place[i];

		if (p->in_line.announced)
			iw_any_eventcount.retract(&p->line, &p->in_line);
		p->in_line.announced = false;
	}
	return true;
}

/* Its notifications have found nothing: they are used up. */
static bool nothing(struct iw_select *me)
{
	for (unsigned i = 0; me->lines && i < me->n; i++)
		me->place[i].notified = false;
	return false;
}

/* The partner has done it, or is about to. */
static bool accepted(struct iw_select *me)
{
	unsigned i = iw_party_accepted(&me->party);

	iw_meet_await(me->cases[i].channel);
	(void)done(me, i, me->place[i].offer.result);
	leave(me);
	return pass_on(me);
}

/* Offers are open from now on, unless something was done while the party was busy. */
static bool open(struct iw_select *me)
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
static bool attempt_outside(struct iw_select *me)
{
	leave(me);
	if (attempt_all(me, false))
		return pass_on(me);
	(void)nothing(me);
	return me->meets && open(me);
}

static bool attempt_again(struct iw_select *me)
{
	return me->meets && !iw_party_claim(&me->party) ? accepted(me)
							: attempt_outside(me);
}

static enum iw_seen look(struct iw_waiter *base)
{
	struct iw_select *me = (struct iw_select *)base;
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
	return attempt_again((struct iw_select *)base);
}

/* Into the line of case @i: how it would rest there alone. */
static struct iw_rest enter(struct iw_place *p)
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
static unsigned enter_all(struct iw_select *me)
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
		if (!n)
			me->first_word = rest.word;
		me->word[n++] = iw_waitv(rest.word, rest.expected, is_private(ec));
	}
	/* Of a select without a channel nobody wakes it. */
	if (me->meets || !n) {
		const uint32_t *state = (const uint32_t *)&me->party.state;

		if (!n)
			me->first_word = state;
		me->word[n++] =
			iw_waitv(state, me->meets ? IW_PARTY_ASLEEP : IW_PARTY_BUSY, true);
	}
	return n;
}

static int64_t nap_ns(const struct iw_select *me)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < me->n; i++) {
		int64_t own = me->cases[i].channel ? me->cases[i].channel->ops->nap_ns : 0;

		if (own && (!ns || own < ns))
			ns = own;
	}
	return ns;
}

static struct iw_rest rest_on_words(struct iw_select *me, unsigned n)
{
	struct iw_rest rest;
	int64_t nap;

	if (!n)
		return iw_rest_unpublished();
	rest = iw_rest_on(me->first_word, (uint32_t)me->word->expected);
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
static bool settled(struct iw_select *me, unsigned *words)
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
	struct iw_select *me = (struct iw_select *)base;
	unsigned words = 0;

	return settled(me, &words) ? iw_rest_taken() : rest_on_words(me, words);
}

static const struct iw_waitable select_waitable = {
	.kind = IPCWAIT_KIND_CHANNEL,
	.resumable = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

static void prepare(struct iw_select *me)
{
	for (unsigned i = 0; i < me->n; i++) {
		struct ipcwait_channel_case *c = &me->cases[i];
		struct iw_place *p = &me->place[i];

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
static void finish(struct iw_select *me)
{
	for (unsigned i = 0; me->meets && i < me->n; i++)
		if (meets(&me->cases[i]))
			iw_meet_not(me->cases[i].channel, me->cases[i].op,
				    &me->place[i].offer);
}

int iw_select_run(struct iw_select *me)
{
	int r = 0;

	me->base.what = &select_waitable;
	me->done = me->n;
	me->party.window = me->base.window;
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
