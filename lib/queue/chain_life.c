/* SPDX-License-Identifier: MIT */
/* A chain as a whole: made, measured, ended. */
#include "queue/chain.h"

#include "queue/slot.h"

#define BYTES_IN_WORD 7

/* A segment has so many bytes if that is so many slots; the first has fewer. */
#define SEGMENT_BYTES 8192
#define SLOTS_LEAST   8

static size_t up_to(size_t n, size_t multiple)
{
	return (n + multiple - 1) / multiple * multiple;
}

/* Elements are aligned as their size lets one expect. */
static void lay_out(struct iw_chain *c, size_t elem_bytes)
{
	size_t align = elem_bytes < 16 ? 8 : 16;

	c->elem_bytes = elem_bytes;
	c->stride = sizeof(struct ipcwait_word64);
	if (elem_bytes <= BYTES_IN_WORD) {
		c->shape = IW_SLOT_BYTES;
	} else if (elem_bytes == sizeof(struct ipcwait_word64)) {
		c->shape = IW_SLOT_WORD;
		c->beside = 1;
	} else {
		c->shape = IW_SLOT_BEHIND;
		c->elem_at = align;
		c->stride = align + up_to(elem_bytes, align);
	}
}

static uint32_t bytes_for(const struct iw_chain *c, uint32_t least)
{
	uint32_t bytes = least;

	while ((bytes - sizeof(struct iw_segment)) / (c->stride + c->beside) < SLOTS_LEAST)
		bytes *= 2;
	return bytes;
}

bool iw_chain_init(struct iw_chain *c, size_t elem_bytes, bool one_consumer)
{
	struct iw_segment *first;

	*c = (struct iw_chain){ .one_consumer = one_consumer };
	lay_out(c, elem_bytes);
	c->segment_bytes = bytes_for(c, SEGMENT_BYTES);
	first = iw_segment_get(bytes_for(c, IW_SEGMENT_LEAST), c->stride, c->beside);
	if (!first)
		return false;
	c->head = c->tail = (struct ipcwait_word64){ (uintptr_t)first };
	return true;
}

static uint64_t read64(const struct ipcwait_word64 *w)
{
	/*
	 * ORD chain_life.A1: acquire, a segment that is found is ready, and whoever counts pops
	 * counts their pushes. Pairs with chain.R1, chain.R3, chain.R5 and chain.R6.
	 */
	return ipcwait_impl_load64_acquire(w);
}

static struct iw_segment *segment_at(uint64_t word)
{
	return word == IW_CLOSED ? NULL : iw_pointer(word);
}

static void fini_element(const struct iw_chain *c, struct iw_segment *s, uint64_t ticket,
			 void (*fini)(void *elem, void *arg), void *arg)
{
	uint64_t word = read64(iw_slot_word(c, s, ticket));

	if (word == IW_SLOT_EMPTY || word == IW_SLOT_POISON)
		return;
	if (c->shape == IW_SLOT_WORD)
		word = iw_unescape(s, ticket, word);
	fini(c->shape == IW_SLOT_BEHIND ? iw_slot_at(c, s, ticket) + c->elem_at
					: (char *)&word,
	     arg);
}

void iw_chain_fini(struct iw_chain *c, void (*fini)(void *elem, void *arg), void *arg)
{
	struct iw_segment *s = segment_at(read64(&c->head)), *next;

	for (; s; s = next) {
		uint64_t end = iw_segment_within(s, read64(&s->enq));

		for (uint64_t t = read64(&s->deq); fini && t < end; t++)
			fini_element(c, s, t, fini, arg);
		next = segment_at(read64(&s->next));
		iw_segment_put(s);
	}
}

/* In a section: how many slots come before the next ticket of poppers. */
static uint64_t popped(const struct iw_chain *c)
{
	struct iw_segment *s = segment_at(read64(&c->head));

	return s->first + iw_segment_within(s, read64(&s->deq));
}

/* In a section: the same of pushers. Beyond tail there is only what a push under way appends. */
static uint64_t pushed(const struct iw_chain *c)
{
	struct iw_segment *s = segment_at(read64(&c->tail));

	return s->first + iw_segment_within(s, read64(&s->enq));
}

static uint64_t bytes_of_all(const struct iw_chain *c)
{
	uint64_t bytes = 0;

	for (struct iw_segment *s = segment_at(read64(&c->head)); s;
	     s = segment_at(read64(&s->next)))
		bytes += s->bytes;
	return bytes;
}

/* @out may be ahead: it is younger, or poppers have drawn what pushers have given back. */
static uint64_t above(uint64_t in, uint64_t out)
{
	return in > out ? in - out : 0;
}

/*
 * The count of poppers only rises. So does that of pushers, but for void tickets of a closed
 * segment, which are given back between two looks: then the later look is the lower bound too.
 */
void iw_chain_measure(struct iw_chain *c, uint64_t *lo, uint64_t *hi, uint64_t *bytes)
{
	uint64_t in, out, in_later;

	iw_rcu_enter();
	in = pushed(c);
	out = popped(c);
	in_later = pushed(c);
	if (bytes)
		*bytes = bytes_of_all(c);
	iw_rcu_leave();
	*lo = above(in < in_later ? in : in_later, out);
	*hi = above(in_later, out);
}
