/* SPDX-License-Identifier: MIT */
/* Elements, their segments, and the end: lib/os/tell.h. Reuse of segments: lib/os/rcu.c. */
#define IW_TELLS_BY_HAND

#include "queue/chain.h"

#include <errno.h>

#include <ipcwait/base.h>

#include "os/tell.h"
#include "queue/slot.h"

/*
 * Looks at a slot whose pusher has its ticket, before it is spoiled: some 0.8 us where a pause is
 * 26 ns. A pusher that runs needs a tenth of that.
 */
#ifndef IW_LOOKS
#define IW_LOOKS 32
#endif

static struct iw_segment *head(const struct iw_chain *c)
{
	/* ORD chain.A1: acquire, the segment is ready. Pairs with chain.R1. */
	return iw_pointer(ipcwait_impl_load64_acquire(&c->head));
}

static struct iw_segment *tail(const struct iw_chain *c)
{
	/* ORD chain.A2: acquire, the segment is ready. Pairs with chain.R3. */
	return iw_pointer(ipcwait_impl_load64_acquire(&c->tail));
}

/* EMPTY -> element. False: it was spoiled. */
static inline bool fill(const struct iw_chain *c, struct iw_segment *s, uint64_t ticket,
			const void *elem)
{
	uint64_t empty = IW_SLOT_EMPTY;
	uint64_t word = iw_slot_encode(c, s, ticket, elem);

	iw_tell_releases(iw_slot_word(c, s, ticket));
	/*
	 * ORD chain.R4: release, whoever takes the element sees what came before. Pairs with
	 * chain.A3, chain.A4 and chain.A6.
	 */
	return ipcwait_impl_cas64_release(iw_slot_word(c, s, ticket), &empty, word);
}

/* tail goes on from @s, if it is there. */
static void follow(struct iw_chain *c, struct iw_segment *s, uint64_t next)
{
	uint64_t expected = (uintptr_t)s;

	/*
	 * ORD chain.R3: release, as the new one was ready for this thread. Pairs with chain.A2 and
	 * chain_life.A1.
	 */
	(void)ipcwait_impl_cas64_release(&c->tail, &expected, next);
}

/* For a new segment; outside of the section, which is then another. */
static int get_spare(const struct iw_chain *c, struct iw_segment **spare)
{
	iw_rcu_leave();
	*spare = iw_segment_get(c->segment_bytes, c->stride, c->beside);
	iw_rcu_enter();
	return *spare ? 0 : -ENOMEM;
}

static uint64_t next_of(const struct iw_segment *s)
{
	/*
	 * ORD chain.S3: a segment that is there is ready; after the tickets were read, and after
	 * whoever waits has said so. Pairs with chain.S1 and chain.S2.
	 */
	return ipcwait_impl_load64_seq_cst(&s->next);
}

/* NULL -> segment, with the element in it. False: it was not NULL. */
static bool append(struct iw_chain *c, struct iw_segment *s, struct iw_segment *spare,
		   const void *elem)
{
	uint64_t next = 0;

	spare->first = s->first + s->slots;
	*iw_slot_word(c, spare, 0) = (struct ipcwait_word64){
		iw_slot_encode(c, spare, 0, elem),
	};
	spare->enq = (struct ipcwait_word64){ 1 };
	iw_tell_releases(iw_slot_word(c, spare, 0));
	iw_tell_releases(spare);
	/*
	 * ORD chain.S1: the segment is ready, and the element in it. Seq_cst: before the
	 * pusher's look at who waits. Pairs with chain.S3.
	 */
	return ipcwait_impl_cas64_seq_cst(&s->next, &next, (uintptr_t)spare);
}

/* NULL -> CLOSED, if it was NULL. Returns what is there now. */
static uint64_t end_chain(struct iw_segment *s)
{
	uint64_t next = 0;

	iw_tell_releases(&s->next);
	/* ORD chain.S2: as chain.S1; the closer looks at who waits. Pairs with chain.S3. */
	if (ipcwait_impl_cas64_seq_cst(&s->next, &next, IW_CLOSED))
		return IW_CLOSED;
	return next_of(s);
}

/*
 * @s has no slot for @elem: it is full, or closed. 1: the element is in the next segment; 0: try
 * again; else an error.
 */
static int extend(struct iw_chain *c, struct iw_segment *s, bool closed, const void *elem,
		  struct iw_segment **spare)
{
	uint64_t next;

	/* The closer may not have come further than the ticket that said so. */
	if (closed)
		iw_tell_acquired(&s->enq);
	next = closed ? end_chain(s) : next_of(s);
	if (next == IW_CLOSED) {
		iw_tell_acquired(&s->next);
		return -EPIPE;
	}
	if (next) {
		follow(c, s, next);
		return 0;
	}
	if (!*spare)
		return get_spare(c, spare);
	if (!append(c, s, *spare, elem))
		return 0;
	follow(c, s, (uintptr_t)*spare);
	*spare = NULL;
	return 1;
}

/* Not more tickets than there are slots, as far as one can tell. */
static uint64_t worth_drawing(const struct iw_segment *s, size_t n)
{
	/* ORD chain.X1: relaxed, hint: tickets too many are void. */
	uint64_t left =
		s->slots - iw_segment_within(s, ipcwait_impl_load64_relaxed(&s->enq));

	return !left ? 1 : n < left ? n : left;
}

/* So many elements from @elems as are not spoiled, in the slots of the tickets from @t on. */
static inline size_t fill_some(const struct iw_chain *c, struct iw_segment *s, uint64_t t,
			       uint64_t drawn, const char *elems)
{
	size_t done = 0;

	for (; drawn && t < s->slots; t++, drawn--)
		done += fill(c, s, t, elems + done * c->elem_bytes);
	return done;
}

/* Void tickets of a closed segment are given back, so that its length is right. */
static void undraw(struct iw_segment *s, uint64_t drawn)
{
	/* ORD chain.X2: relaxed, no order needed: they mean nothing. */
	(void)ipcwait_impl_add64_relaxed(&s->enq, -drawn);
}

/* In a section. As iw_chain_push(), with the spare segment in *@spare, if it was not needed. */
static inline int64_t push_in_section(struct iw_chain *c, const char *elems, size_t n,
				      struct iw_segment **spare)
{
	size_t done = 0;
	int r = 0;

	while (done < n && r >= 0) {
		struct iw_segment *s = tail(c);
		uint64_t want = n == 1 ? 1 : worth_drawing(s, n - done);
		/*
		 * ORD chain.S5: whoever waits looks at the tickets, after it has said so; before
		 * the pusher's look at who waits. Pairs with chain.S6.
		 */
		uint64_t t = ipcwait_impl_add64_seq_cst(&s->enq, want);
		const char *at = elems + done * c->elem_bytes;
		bool closed = t & IW_ENQ_CLOSED;

		if (IPCWAIT_LIKELY(t < s->slots)) {
			done += fill_some(c, s, t, want, at);
			continue;
		}
		if (closed)
			undraw(s, want);
		r = extend(c, s, closed, at, spare);
		done += r > 0;
	}
	return done ? (int64_t)done : r;
}

static inline int64_t push(struct iw_chain *c, const void *elems, size_t n)
{
	struct iw_segment *spare = NULL;
	int64_t r;

	iw_rcu_enter();
	r = push_in_section(c, elems, n, &spare);
	iw_rcu_leave();
	if (spare)
		iw_segment_put(spare);
	return r;
}

int64_t iw_chain_push(struct iw_chain *c, const void *elems, size_t n)
{
	return push(c, elems, n);
}

int iw_chain_push_one(struct iw_chain *c, const void *elem)
{
	int64_t r = push(c, elem, 1);

	return r > 0 ? 0 : (int)r;
}

static uint64_t tickets_of_pushers(const struct iw_segment *s)
{
	/*
	 * ORD chain.S6: after whoever waits has said so, and after the tickets of poppers were
	 * read, who draw only behind pushers. Pairs with chain.S5 and chain.S7.
	 */
	return ipcwait_impl_load64_seq_cst(&s->enq);
}

/*
 * EMPTY -> POISON, if the pusher does not come. Returns the element, or EMPTY. Who has no ticket
 * yet is not waited for.
 */
static uint64_t wait_or_spoil(struct iw_chain *c, struct iw_segment *s, uint64_t ticket)
{
	struct ipcwait_word64 *at = iw_slot_word(c, s, ticket);
	int looks = ticket < iw_segment_within(s, tickets_of_pushers(s)) ? IW_LOOKS : 0;
	uint64_t word = IW_SLOT_EMPTY;

	for (; looks && word == IW_SLOT_EMPTY; looks--) {
		iw_pause();
		/* ORD chain.A4: acquire, sees what came before the push. Pairs with chain.R4. */
		word = ipcwait_impl_load64_acquire(at);
	}
	if (word != IW_SLOT_EMPTY)
		return word;
	/* ORD chain.A6: acquire, as chain.A4, if it came at last. Pairs with chain.R4. */
	word = ipcwait_impl_swap64_acquire(at, IW_SLOT_POISON);
	/* ORD chain.X3: relaxed, statistic. */
	if (word == IW_SLOT_EMPTY)
		(void)ipcwait_impl_add64_relaxed(&c->spoiled, 1);
	return word;
}

/* The element of a ticket. False: its slot is spoiled. */
static inline bool take(struct iw_chain *c, struct iw_segment *s, uint64_t ticket,
			void *elem)
{
	/* ORD chain.A3: acquire, sees what came before the push. Pairs with chain.R4. */
	uint64_t word = ipcwait_impl_load64_acquire(iw_slot_word(c, s, ticket));

	if (word == IW_SLOT_EMPTY)
		word = wait_or_spoil(c, s, ticket);
	if (word == IW_SLOT_EMPTY)
		return false;
	iw_tell_acquired(iw_slot_word(c, s, ticket));
	iw_slot_decode(c, s, ticket, word, elem);
	return true;
}

static inline size_t take_some(struct iw_chain *c, struct iw_segment *s, uint64_t t,
			       uint64_t drawn, char *elems)
{
	size_t done = 0;

	for (; drawn && t < s->slots; t++, drawn--)
		done += take(c, s, t, elems + done * c->elem_bytes);
	return done;
}

static inline uint64_t draw(const struct iw_chain *c, struct iw_segment *s, uint64_t n)
{
	uint64_t t;

	/*
	 * ORD chain.R5: release, whoever sees the ticket drawn sees those of pushers before
	 * it. Pairs with chain.A7 and chain_life.A1.
	 */
	if (!c->one_consumer)
		return ipcwait_impl_add64_release(&s->deq, n);
	/* ORD chain.X4: relaxed, protected by the flag: nobody else draws. */
	t = ipcwait_impl_load64_relaxed(&s->deq);
	/* ORD chain.R6: release, as chain.R5. Pairs with chain.A7 and chain_life.A1. */
	ipcwait_impl_store64_release(&s->deq, t + n);
	return t;
}

static uint64_t tickets_of_poppers(const struct iw_segment *s)
{
	/*
	 * ORD chain.A7: acquire, before pushers' tickets are read. Pairs with chain.R5 and
	 * chain.R6.
	 */
	return ipcwait_impl_load64_acquire(&s->deq);
}

/* Whether the next ticket's slot is filled: then nothing that pushers write needs to be read. */
static inline bool is_filled(const struct iw_chain *c, struct iw_segment *s,
			     uint64_t ticket)
{
	/* ORD chain.X5: relaxed, hint: whoever draws the ticket looks again. */
	return ticket < s->slots &&
	       ipcwait_impl_load64_relaxed(iw_slot_word(c, s, ticket)) != IW_SLOT_EMPTY;
}

/* head goes on from @s, which is used up; then it is *@retired. */
static void leave_behind(struct iw_chain *c, struct iw_segment *s, uint64_t next,
			 struct iw_segment **retired)
{
	uint64_t expected = (uintptr_t)s;

	follow(c, s, next);
	/*
	 * ORD chain.R1: release, as the next was ready for this thread. Pairs with chain.A1 and
	 * chain_life.A1.
	 */
	if (!ipcwait_impl_cas64_release(&c->head, &expected, next))
		return;
	/* ORD chain.X6: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(&c->used_up, 1);
	*retired = s;
}

/* No pusher has a ticket that no popper has. 0: look again; else -EAGAIN or -EPIPE. */
static int none_there(struct iw_chain *c, struct iw_segment *s, uint64_t t,
		      struct iw_segment **retired)
{
	uint64_t next = next_of(s);

	if (!next)
		return -EAGAIN;
	if (next == IW_CLOSED) {
		iw_tell_acquired(&s->next);
		return t < iw_segment_within(s, tickets_of_pushers(s)) ? 0 : -EPIPE;
	}
	if (t >= s->slots)
		leave_behind(c, s, next, retired);
	return 0;
}

/* How many tickets to draw, not more than elements are there or under way. 0: look again. */
static inline int64_t there(struct iw_chain *c, struct iw_segment *s, size_t n,
			    struct iw_segment **retired)
{
	uint64_t t = tickets_of_poppers(s), all;

	if (n == 1 && IPCWAIT_LIKELY(is_filled(c, s, t)))
		return 1;
	all = iw_segment_within(s, tickets_of_pushers(s));
	if (t >= all)
		return none_there(c, s, t, retired);
	return (int64_t)(n < all - t ? n : all - t);
}

static void enter(const struct iw_chain *c)
{
	if (!c->one_consumer)
		iw_rcu_enter();
}

static void leave(const struct iw_chain *c)
{
	if (!c->one_consumer)
		iw_rcu_leave();
}

/* What head has left, if it has left any: outside of the section, which is then another. */
static void retire(const struct iw_chain *c, struct iw_segment *retired)
{
	if (!retired)
		return;
	leave(c);
	iw_segment_retire(retired);
	enter(c);
}

static inline int64_t pop(struct iw_chain *c, char *elems, size_t n)
{
	size_t done = 0;
	int64_t want = 0;

	enter(c);
	while (done < n && want >= 0) {
		struct iw_segment *s = head(c), *retired = NULL;

		want = there(c, s, n - done, &retired);
		if (want > 0)
			done += take_some(c, s, draw(c, s, (uint64_t)want), (uint64_t)want,
					  elems + done * c->elem_bytes);
		retire(c, retired);
	}
	leave(c);
	return done ? (int64_t)done : want;
}

bool iw_chain_ready(struct iw_chain *c)
{
	int64_t found;

	enter(c);
	do {
		struct iw_segment *retired = NULL;

		found = there(c, head(c), 1, &retired);
		retire(c, retired);
	} while (!found);
	leave(c);
	return found != -EAGAIN;
}

int64_t iw_chain_pop(struct iw_chain *c, void *elems, size_t n)
{
	return pop(c, elems, n);
}

int iw_chain_pop_one(struct iw_chain *c, void *elem)
{
	int64_t r = pop(c, elem, 1);

	return r > 0 ? 0 : (int)r;
}

/* Whoever is the first to close what turns out to be the last segment has closed the queue. */
static int close_last(struct iw_chain *c)
{
	for (;;) {
		struct iw_segment *s = tail(c);
		uint64_t before, next;

		iw_tell_releases(&s->enq);
		/* ORD chain.S7: before the chain's end is. Pairs with chain.S6. */
		before = ipcwait_impl_or64_seq_cst(&s->enq, IW_ENQ_CLOSED);
		next = end_chain(s);
		if (next == IW_CLOSED)
			return before & IW_ENQ_CLOSED ? -EALREADY : 0;
		follow(c, s, next);
	}
}

int iw_chain_close(struct iw_chain *c)
{
	int r;

	iw_rcu_enter();
	r = close_last(c);
	iw_rcu_leave();
	return r;
}
