/* SPDX-License-Identifier: MIT */
/*
 * liburcu's linked queues, with a node from malloc() for each item as in the seed: wfcq swaps
 * the tail, lfq is the compare-and-swap queue. The functions of the shared library are called,
 * not its inlines.
 */
#include "queue_peers.h"

#include <stdlib.h>
#include <urcu/urcu-bp.h>
#include <urcu/rculfqueue.h>
#include <urcu/wfcqueue.h>

struct wfcq {
	struct cds_wfcq_tail tail;
	struct cds_wfcq_head head __attribute__((aligned(128)));
	bool one_consumer; /* then nobody else pops, and no lock is needed */
};

struct wfcq_item {
	struct cds_wfcq_node node; /* first: an item is found by its node */
	uint64_t value;
};

static void *wfcq_create(const struct queue_shape *shape)
{
	struct wfcq *q = aligned_alloc(128, (sizeof(*q) + 127) / 128 * 128);

	if (!q)
		return NULL;
	cds_wfcq_init(&q->head, &q->tail);
	q->one_consumer = shape->consumers == 1;
	return q;
}

static bool wfcq_push(void *queue, uint64_t value)
{
	struct wfcq *q = queue;
	struct wfcq_item *item = malloc(sizeof(*item));

	if (!item)
		return false;
	cds_wfcq_node_init(&item->node);
	item->value = value;
	cds_wfcq_enqueue(&q->head, &q->tail, &item->node);
	return true;
}

static bool wfcq_pop(void *queue, uint64_t *value)
{
	struct wfcq *q = queue;
	struct cds_wfcq_node *node;

	if (q->one_consumer)
		node = __cds_wfcq_dequeue_nonblocking(&q->head, &q->tail);
	else
		node = cds_wfcq_dequeue_blocking(&q->head, &q->tail);
	if (!node || node == CDS_WFCQ_WOULDBLOCK)
		return false;
	*value = ((struct wfcq_item *)node)->value;
	free(node);
	return true;
}

static void wfcq_destroy(void *queue)
{
	struct wfcq *q = queue;
	uint64_t value;

	while (wfcq_pop(q, &value))
		;
	cds_wfcq_destroy(&q->head, &q->tail);
	free(q);
}

const struct queue_peer queue_urcu_wfcq = {
	.name = "urcu_wfcq",
	.nodes = "malloc per node",
	.create = wfcq_create,
	.push = wfcq_push,
	.pop = wfcq_pop,
	.destroy = wfcq_destroy,
};

struct lfq_item {
	struct cds_lfq_node_rcu node; /* first, as above */
	struct rcu_head rcu;
	uint64_t value;
};

static void *lfq_create(const struct queue_shape *shape)
{
	struct cds_lfq_queue_rcu *q = malloc(sizeof(*q));

	(void)shape;
	if (q)
		cds_lfq_init_rcu(q, urcu_bp_call_rcu);
	return q;
}

static bool lfq_push(void *queue, uint64_t value)
{
	struct lfq_item *item = malloc(sizeof(*item));

	if (!item)
		return false;
	cds_lfq_node_init_rcu(&item->node);
	item->value = value;
	urcu_bp_read_lock();
	cds_lfq_enqueue_rcu(queue, &item->node);
	urcu_bp_read_unlock();
	return true;
}

static void free_item(struct rcu_head *rcu)
{
	free((char *)rcu - offsetof(struct lfq_item, rcu));
}

static bool lfq_pop(void *queue, uint64_t *value)
{
	struct cds_lfq_node_rcu *node;
	struct lfq_item *item;

	urcu_bp_read_lock();
	node = cds_lfq_dequeue_rcu(queue);
	urcu_bp_read_unlock();
	if (!node)
		return false;
	item = (struct lfq_item *)node;
	*value = item->value;
	urcu_bp_call_rcu(&item->rcu, free_item);
	return true;
}

static void lfq_destroy(void *queue)
{
	uint64_t value;

	while (lfq_pop(queue, &value))
		;
	urcu_bp_barrier();
	cds_lfq_destroy_rcu(queue);
	free(queue);
}

const struct queue_peer queue_urcu_lfq = {
	.name = "urcu_lfq",
	.nodes = "malloc per node",
	.create = lfq_create,
	.push = lfq_push,
	.pop = lfq_pop,
	.destroy = lfq_destroy,
};
