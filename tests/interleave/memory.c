/* SPDX-License-Identifier: MIT */
/*
 * What C11 allows and this leaves out: a load that reads a store which its own later store has
 * made possible (load buffering); values older than HISTORY stores; a read-modify-write of
 * anything but the newest value. SEQ_CST accesses order those of their own location, fences
 * order all.
 */
#include <string.h>

#include "interleave/location.h"
#include "interleave/memory.h"
#include "interleave/sched.h"

#define BUFFER_MAX 8

struct store {
	volatile void *p;
	unsigned size;
	uint64_t value;
	struct view view;
};

/* What a thread has beyond its view. */
struct mind {
	struct view acquired; /* by relaxed loads, for an acquire fence to come */
	struct view released; /* at its last release fence */
	struct store buffer[BUFFER_MAX];
	unsigned buffered;
};

static struct mind minds[MINDS];
static struct view fenced; /* what all SEQ_CST fences so far have seen */

static bool acquires(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL ||
	       order == __ATOMIC_SEQ_CST || order == __ATOMIC_CONSUME;
}

static bool releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL ||
	       order == __ATOMIC_SEQ_CST;
}

static bool weak(void)
{
	return sched_memory() == MODEL_WEAK;
}

static struct mind *mind(void)
{
	return &minds[sched_current()];
}

void memory_reset(void)
{
	for (unsigned i = 0; i < MINDS; i++) {
		memset(&minds[i].acquired, 0, sizeof(struct view));
		memset(&minds[i].released, 0, sizeof(struct view));
		minds[i].buffered = 0;
	}
	memset(&fenced, 0, sizeof(fenced));
	location_reset();
}

/* Statistics and what is not watched at all: done at once. */
static bool plain_to_us(struct cell *c, unsigned size, enum access kind)
{
	if (!c || sched_observing())
		return true;
	if (c->life == QUIET)
		shadow_note(c, size, kind, sched_current(), sched_view());
	return c->life == QUIET;
}

static void raise_to(uint16_t *key, uint16_t at_least)
{
	if (*key < at_least)
		*key = at_least;
}

/* The current thread reads @m, and learns what came with it. */
static uint64_t read_message(struct location *l, const struct message *m, int order)
{
	struct view *view = sched_view();

	raise_to(&view->seen[location_index(l)], m->key);
	if (order == __ATOMIC_SEQ_CST)
		raise_to(&l->sc_seen, m->key);
	view_join(acquires(order) ? view : &mind()->acquired, &m->view, weak());
	return m->value;
}

static void see_sc(const struct location *l, int order)
{
	if (order == __ATOMIC_SEQ_CST)
		raise_to(&sched_view()->seen[location_index(l)], l->sc_seen);
}

/* The view that goes with a store; what the thread does from now on is not in it. */
static struct view view_to_send(int order)
{
	struct view *view = sched_view();
	struct view sent = releases(order) ? *view : mind()->released;

	if (releases(order))
		view->past[sched_current()]++;
	return sent;
}

static void add(struct location *l, uint64_t value, int order, bool attached,
		const struct view *sent)
{
	uint16_t key = location_add(l, value, attached, sched_view(), sent);

	raise_to(&sched_view()->seen[location_index(l)], key);
	if (order == __ATOMIC_SEQ_CST)
		raise_to(&l->sc_seen, key);
}

static const struct store *buffered(const volatile void *p, unsigned size)
{
	struct mind *me = mind();

	for (unsigned i = me->buffered; i-- > 0;)
		if (me->buffer[i].p == p && me->buffer[i].size == size)
			return &me->buffer[i];
	return NULL;
}

uint64_t model_peek(const void *p)
{
	const struct store *own = buffered(p, 8);

	return own ? own->value : peek(p, 8);
}

uint64_t memory_load(const volatile void *p, unsigned size, int order)
{
	struct cell *c = shadow_of(p);
	const struct store *own;
	struct location *l;
	uint64_t value;

	if (plain_to_us(c, size, ATOMIC_LOAD))
		return peek(p, size);
	sched_point();
	shadow_note(c, size, ATOMIC_LOAD, sched_current(), sched_view());
	own = buffered(p, size);
	if (own)
		return own->value;
	l = location_of(c, p, size);
	see_sc(l, order);
	value = read_message(l, location_choose(l, sched_view()), order);
	sched_trace(p, "load", value);
	return value;
}

static void buffer_store(volatile void *p, unsigned size, uint64_t value, int order)
{
	struct mind *me = mind();

	if (me->buffered == BUFFER_MAX)
		memory_flush_one(sched_current());
	me->buffer[me->buffered++] = (struct store){ p, size, value, view_to_send(order) };
	if (order == __ATOMIC_SEQ_CST)
		memory_flush_all(sched_current());
}

void memory_store(volatile void *p, unsigned size, uint64_t value, int order)
{
	struct cell *c = shadow_of(p);
	struct location *l;
	struct view view;

	if (plain_to_us(c, size, ATOMIC_STORE)) {
		poke(p, size, value);
		return;
	}
	sched_point();
	shadow_note(c, size, ATOMIC_STORE, sched_current(), sched_view());
	sched_trace(p, "store", value);
	l = location_of(c, p, size);
	if (sched_memory() == MODEL_TSO && sched_current() != HOST) {
		buffer_store(p, size, value, order);
		return;
	}
	see_sc(l, order);
	view = view_to_send(order);
	add(l, value, order, false, &view);
}

static uint64_t combine(enum rmw op, uint64_t old, uint64_t operand, unsigned size)
{
	uint64_t mask = size == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;

	switch (op) {
	case ADD:
		return (old + operand) & mask;
	case SUB:
		return (old - operand) & mask;
	case AND:
		return old & operand;
	case OR:
		return old | operand;
	case XOR:
		return old ^ operand;
	case NAND:
		return ~(old & operand) & mask;
	default:
		return operand;
	}
}

/* Whoever acquires the new value learns also what came with the one it was made from. */
static void replace_newest(struct location *l, uint64_t value, int order)
{
	struct view old = location_newest(l)->view, view;

	(void)read_message(l, location_newest(l), order);
	view = view_to_send(order);
	view_join(&view, &old, weak());
	add(l, value, order, true, &view);
}

/* A read-modify-write empties the buffer of its thread first, as x86-64's do. */
static struct location *begin_rmw(struct cell *c, volatile void *p, unsigned size,
				  int order)
{
	struct location *l;

	sched_point();
	memory_flush_all(sched_current());
	shadow_note(c, size, ATOMIC_STORE, sched_current(), sched_view());
	l = location_of(c, p, size);
	see_sc(l, order);
	return l;
}

uint64_t memory_rmw(volatile void *p, unsigned size, enum rmw op, uint64_t operand,
		    int order)
{
	struct cell *c = shadow_of(p);
	struct location *l;
	uint64_t old, new;

	if (plain_to_us(c, size, ATOMIC_STORE)) {
		old = peek(p, size);
		poke(p, size, combine(op, old, operand, size));
		return old;
	}
	l = begin_rmw(c, p, size, order);
	old = location_newest(l)->value;
	new = combine(op, old, operand, size);
	sched_trace(p, "update to", new);
	replace_newest(l, new, order);
	return old;
}

bool memory_cas(volatile void *p, unsigned size, uint64_t *expected, uint64_t desired,
		int order, int order_of_failure)
{
	struct cell *c = shadow_of(p);
	uint64_t wanted = *expected;
	struct location *l;

	if (plain_to_us(c, size, ATOMIC_STORE)) {
		*expected = peek(p, size);
		if (*expected == wanted)
			poke(p, size, desired);
		return *expected == wanted;
	}
	l = begin_rmw(c, p, size, order);
	*expected = location_newest(l)->value;
	if (*expected != wanted) {
		(void)read_message(l, location_newest(l), order_of_failure);
		sched_trace(p, "cas fails on", *expected);
		return false;
	}
	sched_trace(p, "cas to", desired);
	replace_newest(l, desired, order);
	return true;
}

static void fence_sc(struct view *view)
{
	memory_flush_all(sched_current());
	for (int i = 0; weak() && i < LOCATIONS_MAX; i++) {
		raise_to(&view->seen[i], fenced.seen[i]);
		fenced.seen[i] = view->seen[i];
	}
}

void memory_fence(int order)
{
	struct mind *me = mind();
	struct view *view = sched_view();

	sched_point();
	if (acquires(order))
		view_join(view, &me->acquired, weak());
	if (order == __ATOMIC_SEQ_CST)
		fence_sc(view);
	if (!releases(order))
		return;
	me->released = *view;
	view->past[sched_current()]++;
}

/* Without what a fence of their own does to the loads before it and the stores behind. */
void memory_fence_all(void)
{
	sched_point();
	sched_changed();
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		memory_flush_all(i);
		for (unsigned l = 0; weak() && l < LOCATIONS_MAX; l++)
			raise_to(&fenced.seen[l], sched_view_of(i)->seen[l]);
	}
	for (unsigned i = 0; weak() && i < MODEL_THREADS_MAX; i++)
		for (unsigned l = 0; l < LOCATIONS_MAX; l++)
			raise_to(&sched_view_of(i)->seen[l], fenced.seen[l]);
}

void memory_plain(const volatile void *p, unsigned size, bool store)
{
	struct cell *c = shadow_of(p);

	if (!c || sched_observing())
		return;
	shadow_note(c, size, store ? PLAIN_STORE : PLAIN_LOAD, sched_current(),
		    sched_view());
	for (unsigned i = 0; store && i < (size + 3) / 4; i++)
		c[i].location = 0;
}

uint32_t memory_futex_load(const uint32_t *word)
{
	struct cell *c = shadow_of(word);
	struct view *view = sched_view();
	struct location *l;
	struct message *m;

	memory_flush_all(sched_current());
	if (!c)
		return *word;
	shadow_note(c, 4, ATOMIC_LOAD, sched_current(), view);
	l = location_around(word);
	if (!l || !weak())
		return *word;
	raise_to(&view->seen[location_index(l)], l->kernel_seen);
	m = location_choose(l, view);
	raise_to(&view->seen[location_index(l)], m->key);
	return (uint32_t)(m->value >> (((uintptr_t)word - (uintptr_t)l->p) * 8));
}

void memory_futex_wake(const uint32_t *word)
{
	struct location *l = location_around(word);

	memory_flush_all(sched_current());
	if (l)
		raise_to(&l->kernel_seen, sched_view()->seen[location_index(l)]);
}

unsigned memory_buffered(unsigned thread)
{
	return minds[thread].buffered;
}

void memory_flush_one(unsigned thread)
{
	struct mind *m = &minds[thread];
	struct store s = m->buffer[0];
	struct location *l = location_of(shadow_of(s.p), s.p, s.size);

	memmove(&m->buffer[0], &m->buffer[1], (--m->buffered) * sizeof(s));
	(void)location_add(l, s.value, false, sched_view_of(thread), &s.view);
}

void memory_flush_all(unsigned thread)
{
	while (minds[thread].buffered)
		memory_flush_one(thread);
}
