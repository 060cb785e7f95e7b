/* SPDX-License-Identifier: MIT */
/* A queue as a whole: made, counted, trimmed, ended. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/membarrier.h"
#include "os/seam.h"
#include "queue/params.h"
#include "queue/spsc.h"
#include "sync/eventcount.h"

/*
 * A ring without bound has so many bytes of elements, but not fewer elements than that: to stay in
 * the cache of a core, and to be changed rarely. docs/design/spsc.md has what was measured.
 */
#define RING_BYTES  16384
#define ELEMS_LEAST 16

int ipcwait_spsc_params_check(const struct ipcwait_spsc_params *params)
{
	if (!params)
		return -EINVAL;
	return params->elem_size && params->elem_size <= IPCWAIT_SPSC_ELEM_MAX &&
			       params->capacity <= IPCWAIT_SPSC_CAPACITY_MAX &&
			       !(params->flags & ~IPCWAIT_SPSC_NO_MEMBARRIER) &&
			       iw_reserved_is_zero(params->reserved)
		       ? 0
		       : -EINVAL;
}

/* Elements in a ring, a power of two. */
static uint64_t ring_elems(const struct ipcwait_spsc_params *p)
{
	uint64_t n = p->capacity ? 1 : ELEMS_LEAST;

	while (p->capacity ? n < p->capacity : 2 * n * p->elem_size <= RING_BYTES)
		n *= 2;
	return n;
}

static void set_side(struct ipcwait_impl_spsc_side *side, uint64_t elems, size_t size,
		     bool exchanges)
{
	side->mask = elems - 1;
	side->size = size;
	side->exchanges = exchanges;
}

static void set(struct iw_spsc *s, const struct ipcwait_spsc_params *p)
{
	bool exchanges = p->flags & IPCWAIT_SPSC_NO_MEMBARRIER || !iw_membarrier_register();
	size_t line = _Alignof(struct iw_spsc_ring);
	uint64_t elems = ring_elems(p);

	set_side(&s->base.producer, elems, p->elem_size, exchanges);
	set_side(&s->base.consumer, elems, p->elem_size, exchanges);
	s->base.elements = s->base.room = iw_eventcount_private();
	s->room = p->capacity ? p->capacity : elems;
	s->bounded = p->capacity;
	s->ring_bytes = sizeof(struct iw_spsc_ring) + elems * p->elem_size;
	s->ring_bytes = (s->ring_bytes + line - 1) / line * line;
	s->fini = p->elem_fini;
	s->fini_arg = p->elem_fini_arg;
}

struct ipcwait_spsc *ipcwait_spsc_create(const struct ipcwait_spsc_params *params)
{
	int saved_errno = errno;
	struct iw_spsc *s;

	if (ipcwait_spsc_params_check(params))
		return NULL;
	s = aligned_alloc(_Alignof(struct iw_spsc), sizeof(*s));
	errno = saved_errno;
	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	set(s, params);
	if (!iw_spsc_begin(s)) {
		free(s);
		return NULL;
	}
	return &s->base;
}

static void end_elements(struct iw_spsc *s)
{
	struct ipcwait_impl_spsc_side *me = &s->base.consumer;
	uint64_t at = ipcwait_impl_spsc_at(me);

	for (; at != me->until || !iw_spsc_find_elements(s, at); at++)
		s->fini(ipcwait_impl_spsc_place(me, at), s->fini_arg);
}

void ipcwait_spsc_destroy(struct ipcwait_spsc *q)
{
	if (!q)
		return;
	if (iw_spsc(q)->fini)
		end_elements(iw_spsc(q));
	iw_spsc_free_rings(iw_spsc(q));
	free(q);
}

static uint64_t place(const struct ipcwait_impl_spsc_side *side)
{
	/*
	 * ORD spsc_life.A1: acquire, so what is read next is not older. Pairs with spsc.R1.
	 */
	return ipcwait_impl_load64_acquire(&side->at);
}

/* The consumer is looked at before and after the producer. */
int ipcwait_spsc_length(const struct ipcwait_spsc *q, uint64_t *lo, uint64_t *hi)
{
	const struct iw_spsc *s = (const struct iw_spsc *)q;
	uint64_t before, tail, head;

	if (!q || !lo || !hi)
		return -EINVAL;
	before = place(&q->consumer);
	tail = place(&q->producer);
	head = place(&q->consumer);
	*lo = (int64_t)(tail - head) > 0 ? tail - head : 0;
	*hi = tail - before;
	if (s->bounded && *hi > s->room)
		*hi = s->room;
	return 0;
}

size_t ipcwait_spsc_trim(struct ipcwait_spsc *q)
{
	struct iw_spsc_ring *r = iw_spsc_take_spare(iw_spsc(q));

	free(r);
	return r ? iw_spsc(q)->ring_bytes : 0;
}
