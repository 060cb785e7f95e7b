/* SPDX-License-Identifier: MIT */
/* libipcwait's queue of one producer and one consumer, with a bound and without. */
#include "queue_peers.h"

#include <ipcwait/spsc.h>

static void *create(uint64_t capacity)
{
	struct ipcwait_spsc_params params = { .elem_size = sizeof(uint64_t),
					      .capacity = capacity };

	return ipcwait_spsc_create(&params);
}

static void *create_bounded(const struct queue_shape *shape)
{
	return create(shape->capacity);
}

static void *create_unbounded(const struct queue_shape *shape)
{
	(void)shape;
	return create(0);
}

static bool push(void *queue, uint64_t value)
{
	return ipcwait_spsc_push(queue, &value) == 0;
}

static bool pop(void *queue, uint64_t *value)
{
	return ipcwait_spsc_trypop(queue, value) == 0;
}

static bool take(void *queue, uint64_t *value)
{
	return ipcwait_spsc_pop(queue, value) == 0;
}

static void close_queue(void *queue)
{
	(void)ipcwait_spsc_close(queue);
}

static void destroy(void *queue)
{
	ipcwait_spsc_destroy(queue);
}

const struct queue_peer queue_ipcwait_spsc = {
	.name = "ipcwait_spsc",
	.nodes = "array",
	.one_to_one = true,
	.bounded = true,
	.create = create_bounded,
	.push = push,
	.pop = pop,
	.destroy = destroy,
	.take = take,
	.close = close_queue,
};

const struct queue_peer queue_ipcwait_spsc_unbounded = {
	.name = "ipcwait_spsc_unbounded",
	.nodes = "linked arrays",
	.one_to_one = true,
	.create = create_unbounded,
	.push = push,
	.pop = pop,
	.destroy = destroy,
	.take = take,
	.close = close_queue,
};
