/* SPDX-License-Identifier: MIT */
/* Sends and receives. The state table is in shared_head.h, the argument in
 * docs/design/shared_channel.md. */
#include "queue/shared.h"

#include <errno.h>
#include <string.h>

#include "os/seam.h"
#include "queue/blocking.h"

/*
 * Whoever is too late at a place has another's progress to thank for it; to be so so often in a row
 * takes words that lie.
 */
#define TRIES_MOST (1u << 16)

/* An event count has so many in line at most. */
#define SLEEPERS_MOST 1023

/* In which stage of the lap of a position its slot is ready: for senders, and for receivers. */
#define FOR_SENDERS   IW_SHARED_FREE
#define FOR_RECEIVERS IW_SHARED_FULL

/* A claimed slot, or the one that could not be. */
struct place {
	uint64_t pos;
	struct ipcwait_word64 *slot;
	uint64_t mine; /* the control word since the claim */
	int64_t past;  /* its stage, from the beginning of the lap of pos on */
};

static uint64_t index_of(const struct iw_shared *s, uint64_t pos)
{
	return pos & ((UINT64_C(1) << s->index_bits) - 1);
}

static uint64_t next(const struct iw_shared *s, uint64_t pos)
{
	uint64_t left = s->is.capacity - 1 - index_of(s, pos);

	return left ? pos + 1 : pos + (UINT64_C(1) << s->index_bits) - s->is.capacity + 1;
}

/* Stages of a slot from the beginning of the lap of @pos on; below 0: it is in an earlier lap. */
static int64_t past(const struct iw_shared *s, uint64_t control, uint64_t pos)
{
	uint64_t began = pos >> s->index_bits << 2;
	unsigned unused = 62 - s->lap_bits;

	return (int64_t)((iw_shared_stage(control) - began) << unused) >> unused;
}

static void move(const struct iw_shared *s, struct ipcwait_word64 *hint, uint64_t pos)
{
	/*
	 * ORD shared.R1: release: whoever goes by the new position finds the slot of the old one
	 * claimed. Pairs with shared.A1, shared.A2 and shared.A3.
	 */
	(void)ipcwait_impl_cas64_release(hint, &pos, next(s, pos));
}

/* The slot is not ready; another stage of the laps around would be a lie. */
static int why_not(struct iw_shared *s, struct place *p, uint64_t control, int64_t ready)
{
	if (ready - p->past >= IW_SHARED_STATES)
		return -EBADMSG;
	if (iw_shared_is_claimed(control) && iw_shared_look_after(s, control))
		return 0;
	return -EAGAIN;
}

/* The first place from *@hint on that nobody has claimed, if it is ready. */
static int claim(struct iw_shared *s, struct ipcwait_word64 *hint, int64_t ready,
		 struct place *p)
{
	for (unsigned tries = 0; tries < TRIES_MOST; tries++) {
		uint64_t control;
		int r = 0;

		/* ORD shared.A1: acquire, so the slot is as whoever moved it saw it. Pairs with
		 * shared.R1. */
		p->pos = ipcwait_impl_load64_acquire(hint);
		if (index_of(s, p->pos) >= s->is.capacity)
			return -EBADMSG;
		p->slot = iw_shared_slot(s, index_of(s, p->pos));
		/* ORD shared.S1: seq_cst, the look before a sleep; sees the element, or that the
		 * reader is done with it. Pairs with shared.S2, shared.S3 and shared_bury.S2. */
		control = ipcwait_impl_load64_seq_cst(p->slot);
		p->past = past(s, control, p->pos);
		p->mine = iw_shared_control(s, iw_shared_stage(control) + 1, s->me);
		if (p->past < ready)
			r = why_not(s, p, control, ready);
		else if (p->past > ready)
			move(s, hint, p->pos);
		/* ORD shared.S2: seq_cst, before the claimant asks whether it is closed. Pairs with
		 * shared.S1, shared.S4, shared.S5 and shared_bury.S1. */
		else if (ipcwait_impl_cas64_seq_cst(p->slot, &control, p->mine)) {
			move(s, hint, p->pos);
			return 0;
		}
		if (r)
			return r;
	}
	return -EBADMSG;
}

/* @stages further. False: it was not the caller's any more. */
static bool go_on(const struct iw_shared *s, const struct place *p, uint64_t stages)
{
	uint64_t mine = p->mine;

	/* ORD shared.S3: seq_cst, the change that others wait for; they see what was done with the
	 * element. Pairs with shared.S1, shared.S5, shared.S7,
	 * shared.S8 and shared_bury.S1. */
	return ipcwait_impl_cas64_seq_cst(
		p->slot, &mine, iw_shared_control(s, iw_shared_stage(mine) + stages, 0));
}

/*
 * How many places behind @pos are ready, but were not the first to be: those who were told of them
 * have found @pos in the way.
 */
static uint32_t ready_behind(const struct iw_shared *s, uint64_t pos, int64_t ready)
{
	uint32_t n = 0;

	for (uint64_t i = 1; i < s->is.capacity && i < SLEEPERS_MOST; i++) {
		int64_t stages;

		pos = next(s, pos);
		/* ORD shared.S5: seq_cst: what becomes ready later tells of itself. Pairs with
		 * shared.S2 and shared.S3. */
		stages = past(
			s, ipcwait_impl_load64_seq_cst(iw_shared_slot(s, index_of(s, pos))),
			pos);
		if (stages < ready)
			break;
		n += stages == ready;
	}
	return n;
}

static void tell(const struct iw_shared *s, struct ipcwait_eventcount *ec, uint64_t pos,
		 int64_t ready)
{
	if (iw_is_blocked(ec))
		iw_unblock(ec, 1 + ready_behind(s, pos, ready), IPCWAIT_KIND_CHANNEL);
}

static bool is_closed(const struct iw_shared *s)
{
	/*
	 * ORD shared.S4: seq_cst: if a sender's claim comes before the close, receivers that see
	 * it closed see the claim; if it comes after, the sender sees that. Pairs with shared.S2
	 * and shared.S6.
	 */
	return ipcwait_impl_load64_seq_cst(&s->head->closed);
}

static void tell_all(struct iw_shared *s)
{
	iw_unblock(&s->head->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
	iw_unblock(&s->head->room, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
}

int iw_shared_trysend(struct iw_shared *s, const void *elem)
{
	struct place p;
	int r = is_closed(s) ? -EPIPE : claim(s, &s->head->tail, FOR_SENDERS, &p);

	if (r)
		return r;
	if (is_closed(s)) {
		(void)go_on(s, &p, IW_SHARED_STATES - IW_SHARED_WRITING);
		iw_unblock(&s->head->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
		return -EPIPE;
	}
	memcpy(p.slot + 1, elem, s->is.elem_bytes);
	if (!go_on(s, &p, IW_SHARED_FULL - IW_SHARED_WRITING))
		return -EBADMSG;
	tell(s, &s->head->elements, p.pos, FOR_RECEIVERS);
	return 0;
}

/* Nobody has claimed the first place for an element, and the channel was closed before. */
static int drained(struct iw_shared *s, struct place *p)
{
	int r = claim(s, &s->head->head, FOR_RECEIVERS, p);

	return r == -EAGAIN && p->past <= IW_SHARED_FREE ? -EPIPE : r;
}

int iw_shared_tryrecv(struct iw_shared *s, void *elem)
{
	struct place p;
	int r = claim(s, &s->head->head, FOR_RECEIVERS, &p);

	if (r == -EAGAIN && is_closed(s))
		r = drained(s, &p);
	if (r)
		return r;
	memcpy(elem, p.slot + 1, s->is.elem_bytes);
	(void)go_on(s, &p, IW_SHARED_STATES - IW_SHARED_READING);
	tell(s, &s->head->room, p.pos, FOR_SENDERS + IW_SHARED_STATES);
	/* It may have been the last one, which others sleep for. */
	if (is_closed(s))
		iw_unblock(&s->head->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
	return 0;
}

bool iw_shared_is_ready(struct iw_shared *s)
{
	/* ORD shared.X1: relaxed, hint: a slot that has gone on is ready, if only for others. */
	uint64_t pos = ipcwait_impl_load64_relaxed(&s->head->head);
	uint64_t control;
	int64_t stages;

	if (index_of(s, pos) >= s->is.capacity)
		return true;
	/* ORD shared.S7: seq_cst, as shared.S1. Pairs with shared.S3 and shared_bury.S2. */
	control = ipcwait_impl_load64_seq_cst(iw_shared_slot(s, index_of(s, pos)));
	stages = past(s, control, pos);
	if (stages == IW_SHARED_WRITING && iw_shared_look_after(s, control))
		return true;
	return stages >= FOR_RECEIVERS || (stages <= IW_SHARED_FREE && is_closed(s));
}

int iw_shared_close(struct iw_shared *s)
{
	/* ORD shared.S6: seq_cst, as shared.S4. Pairs with shared.S4. */
	uint64_t before = ipcwait_impl_or64_seq_cst(&s->head->closed, 1);

	tell_all(s);
	return before ? -EALREADY : 0;
}

/* Modulo 2^64 if below 0. */
static uint64_t distance(const struct iw_shared *s, uint64_t from, uint64_t to)
{
	uint64_t index = index_of(s, to) - index_of(s, from);
	int64_t laps = (int64_t)(to - from - index) >> s->index_bits;

	return (uint64_t)laps * s->is.capacity + index;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	if ((int64_t)n < 0)
		return 0;
	return n < most ? n : most;
}

/*
 * Places between head and tail whose lap is over: given up by a sender that found it closed, or
 * taken from the dead. Head goes past them when something is received.
 */
static uint64_t given_up(const struct iw_shared *s, uint64_t from, uint64_t to)
{
	uint64_t n = 0, most = at_most(distance(s, from, to), 2 * s->is.capacity);

	for (uint64_t i = 0; i < most && index_of(s, from) < s->is.capacity; i++) {
		uint64_t index = index_of(s, from);

		/* ORD shared.S8: seq_cst, before tail is read again. Pairs with shared.S3 and
		 * shared_bury.S2. */
		n += past(s, ipcwait_impl_load64_seq_cst(iw_shared_slot(s, index)), from) >=
		     IW_SHARED_STATES;
		from = next(s, from);
	}
	return n;
}

static uint64_t tail_of(const struct iw_shared *s)
{
	/* ORD shared.A3: acquire, so that head is read later once more. Pairs with shared.R1. */
	return ipcwait_impl_load64_acquire(&s->head->tail);
}

/*
 * Of the moment when tail is read for the second time: head is between what it is before and after.
 * A place whose lap is over before is none of that moment's elements; one that is after may be.
 */
void iw_shared_length(const struct iw_shared *s, uint64_t *lo, uint64_t *hi)
{
	/* ORD shared.A2: acquire, so that tail is read later. Pairs with shared.R1. */
	uint64_t before = ipcwait_impl_load64_acquire(&s->head->head);
	uint64_t over = given_up(s, before, tail_of(s));
	uint64_t tail = tail_of(s);
	/* ORD shared.X2: relaxed, no order: the last one read. */
	uint64_t after = ipcwait_impl_load64_relaxed(&s->head->head);

	*hi = at_most(distance(s, before, tail) - over, s->is.capacity);
	*lo = at_most(distance(s, after, tail) - given_up(s, after, tail), *hi);
}
