/* SPDX-License-Identifier: MIT */
/* Concurrency Kit's ring, and its linked queue for two threads, which uses nodes again. */
#include "queue_peers.h"

#include <ck_fifo.h>
#include <ck_ring.h>
#include <stdlib.h>

struct ring {
	struct ck_ring ring;
	struct ck_ring_buffer *slots;
	bool one_to_one;
};

/* A power of two, as the ring wants; it leaves one slot free. */
static size_t slots_for(size_t capacity)
{
	size_t n = 4;

	while (n < capacity + 1)
		n *= 2;
	return n;
}

static void *ring_create(const struct queue_shape *shape)
{
	size_t n = slots_for(shape->capacity);
	struct ring *r = aligned_alloc(128, (sizeof(*r) + 127) / 128 * 128);
	struct ck_ring_buffer *slots = calloc(n, sizeof(*slots));

	if (!r || !slots) {
		free(r);
		free(slots);
		return NULL;
	}
	ck_ring_init(&r->ring, (unsigned)n);
	r->slots = slots;
	r->one_to_one = shape->producers == 1 && shape->consumers == 1;
	return r;
}

static bool ring_push(void *queue, uint64_t value)
{
	struct ring *r = queue;
	void *entry = (void *)(uintptr_t)value;

	return r->one_to_one ? ck_ring_enqueue_spsc(&r->ring, r->slots, entry)
			     : ck_ring_enqueue_mpmc(&r->ring, r->slots, entry);
}

static bool ring_pop(void *queue, uint64_t *value)
{
	struct ring *r = queue;
	void *entry;
	bool got = r->one_to_one ? ck_ring_dequeue_spsc(&r->ring, r->slots, &entry)
				 : ck_ring_dequeue_mpmc(&r->ring, r->slots, &entry);

	if (got)
		*value = (uintptr_t)entry;
	return got;
}

static void ring_destroy(void *queue)
{
	struct ring *r = queue;

	free(r->slots);
	free(r);
}

const struct queue_peer queue_ck_ring = {
	.name = "ck_ring",
	.nodes = "array",
	.bounded = true,
	.in_turn = true,
	.create = ring_create,
	.push = ring_push,
	.pop = ring_pop,
	.destroy = ring_destroy,
};

static void *fifo_create(const struct queue_shape *shape)
{
	struct ck_fifo_spsc *q = aligned_alloc(128, (sizeof(*q) + 127) / 128 * 128);
	struct ck_fifo_spsc_entry *stub = malloc(sizeof(*stub));

	(void)shape;
	if (!q || !stub) {
		free(q);
		free(stub);
		return NULL;
	}
	ck_fifo_spsc_init(q, stub);
	return q;
}

static bool fifo_push(void *queue, uint64_t value)
{
	struct ck_fifo_spsc_entry *entry = ck_fifo_spsc_recycle(queue);

	if (!entry)
		entry = malloc(sizeof(*entry));
	if (!entry)
		return false;
	ck_fifo_spsc_enqueue(queue, entry, (void *)(uintptr_t)value);
	return true;
}

/* The queue stores a pointer where it is told to. */
static bool fifo_pop(void *queue, uint64_t *value)
{
	void *entry;

	if (!ck_fifo_spsc_dequeue(queue, &entry))
		return false;
	*value = (uintptr_t)entry;
	return true;
}

static void fifo_destroy(void *queue)
{
	struct ck_fifo_spsc_entry *entry, *next;

	ck_fifo_spsc_deinit(queue, &entry);
	for (; entry; entry = next) {
		next = entry->next;
		free(entry);
	}
	free(queue);
}

const struct queue_peer queue_ck_fifo = {
	.name = "ck_fifo",
	.nodes = "nodes used again",
	.one_to_one = true,
	.create = fifo_create,
	.push = fifo_push,
	.pop = fifo_pop,
	.destroy = fifo_destroy,
};
