/* SPDX-License-Identifier: MIT */
/*
 * A channel with a buffer: a ring of slots, each with a stamp that says whose turn it is. The
 * argument is in docs/design/channel.md.
 *
 * Positions count sends and receives: twice the index of a slot in the low bits, below ring.lap,
 * and laps above. They are always even, and wrap with the word.
 *
 *   slot.stamp   of position p = what it says of the slot
 *     p          free, for the send of p; or that one is putting its element in
 *     p+FULL     has the element; or the receive of p is taking it out
 *     p+lap      free, for the send of the next lap
 *
 *     p      -> p+FULL   published    the send that has reserved p
 *     p+FULL -> p+lap    released     the receive that has reserved p
 *
 *   ring.tail    position of the next send | CLOSED
 *     t      -> t+k      reserved     a send, if the k slots from t on are free for it
 *     t      -> t|CLOSED close        nothing is reserved afterwards
 *
 *   ring.head    position of the next receive
 *     h      -> h+k      reserved     a receive, if the k slots from h on are full
 */
/* Elements, their places, and the close: lib/os/tell.h. */
#define IW_TELLS_BY_HAND

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/seam.h"
#include "os/tell.h"
#include "queue/blocking.h"
#include "queue/channel_ring.h"
#include "sync/eventcount.h"

#define CLOSED UINT64_C(1)
#define FULL   UINT64_C(1)
#define STEP   UINT64_C(2)

struct slot {
	struct ipcwait_word64 stamp;
	char elem[];
};

/* Lines that senders write, receivers, and both when they wait, are apart. */
struct ring {
	struct ipcwait_channel base;
	uint64_t capacity, lap;
	size_t stride; /* bytes from slot to slot */
	char *slots;
	void (*elem_fini)(void *elem, void *arg);
	void *elem_fini_arg;
	struct ipcwait_word64
		closed; /* not 0: the tail is; so that receivers let the tail be */
	struct ipcwait_word64 tail __attribute__((aligned(IW_ARCH_LINE_BYTES)));
	struct ipcwait_word64 head __attribute__((aligned(IW_ARCH_LINE_BYTES)));
	struct ipcwait_eventcount elements __attribute__((aligned(IW_ARCH_LINE_BYTES)));
	struct ipcwait_eventcount room __attribute__((aligned(IW_ARCH_LINE_BYTES)));
};

static struct ring *ring_of(struct ipcwait_channel *ch)
{
	return (void *)ch;
}

static uint64_t index_of(const struct ring *r, uint64_t pos)
{
	return (pos & (r->lap - 1)) / STEP;
}

/* @n, up to the capacity, after @pos. */
static uint64_t after(const struct ring *r, uint64_t pos, uint64_t n)
{
	uint64_t i = index_of(r, pos) + n;

	return i < r->capacity ? pos + n * STEP : pos + (n - r->capacity) * STEP + r->lap;
}

/* How many positions @from is before @to. */
static uint64_t between(const struct ring *r, uint64_t from, uint64_t to)
{
	uint64_t i = index_of(r, from), k = index_of(r, to);

	return (to - k * STEP - (from - i * STEP)) / r->lap * r->capacity + k - i;
}

static struct slot *slot_at(const struct ring *r, uint64_t pos)
{
	return (void *)(r->slots + index_of(r, pos) * r->stride);
}

static uint64_t stamp_at(const struct ring *r, uint64_t pos)
{
	/*
	 * ORD channel_ring.S1: seq_cst, as the last look before a sleep, blocking.h; it acquires
	 * the element, or the place. Pairs with channel_ring.S2.
	 */
	return ipcwait_impl_load64_seq_cst(&slot_at(r, pos)->stamp);
}

static void set_stamp(struct slot *s, uint64_t stamp)
{
	iw_tell_releases(&s->stamp);
	/*
	 * ORD channel_ring.S2: seq_cst, so that the load of blocking.S1 comes after it; it releases
	 * the element, or the place. Pairs with channel_ring.S1.
	 */
	ipcwait_impl_store64_seq_cst(&s->stamp, stamp);
}

/* How many slots, up to @n, have the stamp @due after their position. */
static uint64_t ready_from(const struct ring *r, uint64_t pos, uint64_t due, uint64_t n)
{
	uint64_t k = 0;

	for (; k < n && stamp_at(r, pos) == pos + due; k++)
		pos = after(r, pos, 1);
	return k;
}

static uint64_t position(const struct ipcwait_word64 *end)
{
	/*
	 * ORD channel_ring.S6: seq_cst, so that a sender's last look sees a close, and a length is
	 * that of one moment. Pairs with channel_ring.S5, channel_ring.S7.
	 */
	return ipcwait_impl_load64_seq_cst(end);
}

/*
 * Reserves positions from *@pos on whose slots have the stamp @due after them: how many, up to @n.
 * 0: then the slot of *@pos was not ready while that was the next, or it is closed.
 */
static uint64_t reserve(struct ring *r, struct ipcwait_word64 *end, uint64_t due,
			uint64_t n, uint64_t *pos)
{
	/* ORD channel_ring.X1: relaxed, re-checked by the CAS, or by the load below. */
	uint64_t p = ipcwait_impl_load64_relaxed(end), now, k;

	for (; !(p & CLOSED); p = now) {
		now = p;
		k = ready_from(r, p, due, n);
		/*
		 * ORD channel_ring.S7: seq_cst, one order for both ends and a length in between.
		 * Pairs with channel_ring.S6.
		 */
		if (k && ipcwait_impl_cas64_seq_cst(end, &now, after(r, p, k))) {
			*pos = p;
			return k;
		}
		if (k)
			continue;
		now = position(end);
		if (now == p)
			break;
	}
	*pos = p;
	return 0;
}

/* Elements of a word are most. */
static void copy(void *to, const void *from, size_t size)
{
	if (size == sizeof(uint64_t))
		__builtin_memcpy(to, from, sizeof(uint64_t));
	else
		memcpy(to, from, size);
}

/*
 * After the slot before @pos has become ready: @n have, and those after it that were already. Who
 * was told of them may have looked too early, when this one hid them; so it is told again of
 * all. A slot beyond its stamp was taken, but hides nothing.
 */
static void tell(struct ring *r, struct ipcwait_eventcount *ec, uint64_t pos, uint64_t due,
		 uint64_t n)
{
	if (!iw_is_blocked(ec))
		return;
	for (uint64_t k = 1; k < r->capacity; k++) {
		if ((int64_t)(stamp_at(r, pos) - (pos + due)) < 0)
			break;
		pos = after(r, pos, 1);
		n++;
	}
	(void)iw_eventcount_notify(ec, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX,
				   IPCWAIT_KIND_CHANNEL);
}

static bool is_closed(const struct ring *r)
{
	/*
	 * ORD channel_ring.S3: seq_cst, as the last look before a sleep. Who sees it sees the tail
	 * closed. Pairs with channel_ring.S4.
	 */
	return ipcwait_impl_load64_seq_cst(&r->closed);
}

static void set_closed(struct ring *r)
{
	/* ORD channel_ring.S4: seq_cst, before the waiters are told. Pairs with channel_ring.S3. */
	if (!is_closed(r))
		ipcwait_impl_store64_seq_cst(&r->closed, 1);
}

static int64_t ring_send(struct ipcwait_channel *ch, const void *elems, size_t n)
{
	struct ring *r = ring_of(ch);
	const char *from = elems;
	uint64_t pos, k = reserve(r, &r->tail, 0, n, &pos);

	if (!k) {
		if (!(pos & CLOSED))
			return -EAGAIN;
		/* Before anybody is told that it is closed, receivers are to know. */
		set_closed(r);
		iw_tell_acquired(&r->tail);
		return -EPIPE;
	}
	for (uint64_t i = 0; i < k; i++) {
		struct slot *s = slot_at(r, pos);

		iw_tell_acquired(&s->stamp);
		copy(s->elem, from, r->base.elem_size);
		set_stamp(s, pos + FULL);
		from += r->base.elem_size;
		pos = after(r, pos, 1);
	}
	/* Closed: receivers that wait for the last elements are to learn that there is no other. */
	tell(r, &r->elements, pos, FULL, is_closed(r) ? UINT32_MAX : k);
	return (int64_t)k;
}

static bool is_drained(const struct ring *r, uint64_t pos)
{
	if (!is_closed(r) || position(&r->tail) != (pos | CLOSED))
		return false;
	iw_tell_acquired(&r->tail);
	return true;
}

static int64_t ring_recv(struct ipcwait_channel *ch, void *elems, size_t n)
{
	struct ring *r = ring_of(ch);
	char *to = elems;
	uint64_t pos, k = reserve(r, &r->head, FULL, n, &pos);

	if (!k)
		return is_drained(r, pos) ? -EPIPE : -EAGAIN;
	for (uint64_t i = 0; i < k; i++) {
		struct slot *s = slot_at(r, pos);

		iw_tell_acquired(&s->stamp);
		copy(to, s->elem, r->base.elem_size);
		set_stamp(s, pos + r->lap);
		to += r->base.elem_size;
		pos = after(r, pos, 1);
	}
	tell(r, &r->room, pos, r->lap, k);
	return (int64_t)k;
}

static int ring_close(struct ipcwait_channel *ch)
{
	struct ring *r = ring_of(ch);
	uint64_t was;

	iw_tell_releases(&r->tail);
	/*
	 * ORD channel_ring.S5: seq_cst, before senders are told. Pairs with channel_ring.S6.
	 */
	was = ipcwait_impl_or64_seq_cst(&r->tail, CLOSED);
	set_closed(r);
	if (was & CLOSED)
		return -EALREADY;
	iw_unblock(&r->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
	iw_unblock(&r->room, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
	return 0;
}

static bool ring_ready(struct ipcwait_channel *ch)
{
	struct ring *r = ring_of(ch);
	uint64_t p = position(&r->head), now;

	while (stamp_at(r, p) != p + FULL) {
		now = position(&r->head);
		if (now == p)
			return is_closed(r);
		p = now;
	}
	return true;
}

static void ring_length(struct ipcwait_channel *ch, uint64_t *lo, uint64_t *hi)
{
	struct ring *r = ring_of(ch);
	uint64_t before = position(&r->head), tail = position(&r->tail) & ~CLOSED;
	uint64_t behind = position(&r->head), most = between(r, before, tail);

	*lo = (int64_t)(tail - behind) > 0 ? between(r, behind, tail) : 0;
	*hi = most < r->capacity ? most : r->capacity;
}

static void ring_destroy(struct ipcwait_channel *ch)
{
	struct ring *r = ring_of(ch);
	uint64_t pos = position(&r->head), tail = position(&r->tail) & ~CLOSED;

	for (; r->elem_fini && pos != tail; pos = after(r, pos, 1))
		r->elem_fini(slot_at(r, pos)->elem, r->elem_fini_arg);
	free(r->slots);
	free(r);
}

static const struct iw_channel_ops ring_ops = {
	.send = ring_send,
	.recv = ring_recv,
	.close = ring_close,
	.length = ring_length,
	.ready = ring_ready,
	.destroy = ring_destroy,
};

static bool allocate_slots(struct ring *r)
{
	size_t bytes;

	if (__builtin_mul_overflow(r->capacity, r->stride, &bytes) || bytes > PTRDIFF_MAX)
		return false;
	r->slots = malloc(bytes);
	for (uint64_t i = 0; r->slots && i < r->capacity; i++)
		/* ORD channel_ring.X2: relaxed, protected by the caller: nobody else has it. */
		ipcwait_impl_store64_relaxed(&slot_at(r, i * STEP)->stamp, i * STEP);
	return r->slots;
}

struct ipcwait_channel *iw_channel_ring(const struct ipcwait_channel_params *params)
{
	struct ring *r = aligned_alloc(_Alignof(struct ring), sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct ring){
		.base = { .any = &iw_channel_made.any,
			  .ops = &ring_ops,
			  .elem_size = params->elem_size,
			  .elements = &r->elements,
			  .room = &r->room },
		.capacity = params->capacity,
		.lap = STEP,
		.stride = (sizeof(struct slot) + params->elem_size + 7) & ~(size_t)7,
		.elem_fini = params->elem_fini,
		.elem_fini_arg = params->elem_fini_arg,
		.elements = iw_eventcount_private(),
		.room = iw_eventcount_private(),
	};
	while (r->lap < STEP * r->capacity)
		r->lap *= 2;
	if (allocate_slots(r))
		return &r->base;
	free(r);
	return NULL;
}
