/* SPDX-License-Identifier: MIT */
/* libipcwait's queue for any number of producers and consumers: of numbers, and of pointers. */
#include "queue_peers.h"

#include <ipcwait/queue.h>

static void *create(const struct queue_shape *shape)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(uint64_t) };

	(void)shape;
	return ipcwait_queue_create(&params);
}

static bool push(void *queue, uint64_t value)
{
	return !ipcwait_queue_push(queue, &value);
}

static bool pop(void *queue, uint64_t *value)
{
	return !ipcwait_queue_trypop(queue, value);
}

static bool take(void *queue, uint64_t *value)
{
	return !ipcwait_queue_pop(queue, value);
}

static void close_queue(void *queue)
{
	(void)ipcwait_queue_close(queue);
}

static void destroy(void *queue)
{
	ipcwait_queue_destroy(queue);
}

const struct queue_peer queue_ipcwait = {
	.name = "ipcwait",
	.nodes = "segments from a pool",
	.create = create,
	.push = push,
	.pop = pop,
	.destroy = destroy,
	.take = take,
	.close = close_queue,
};

static void *ptr_create(const struct queue_shape *shape)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(uint64_t),
						     .flags = IPCWAIT_QUEUE_POINTERS };

	(void)shape;
	return ipcwait_queue_create(&params);
}

/* 0 would be NULL. */
static bool ptr_push(void *queue, uint64_t value)
{
	return push(queue, value + 1);
}

static bool ptr_pop(void *queue, uint64_t *value)
{
	if (!pop(queue, value))
		return false;
	--*value;
	return true;
}

static bool ptr_take(void *queue, uint64_t *value)
{
	if (!take(queue, value))
		return false;
	--*value;
	return true;
}

const struct queue_peer queue_ipcwait_ptr = {
	.name = "ipcwait_ptr",
	.nodes = "segments from a pool",
	.create = ptr_create,
	.push = ptr_push,
	.pop = ptr_pop,
	.destroy = destroy,
	.take = ptr_take,
	.close = close_queue,
};
