/* SPDX-License-Identifier: MIT */
/* libipcwait's queue for any number of producers and consumers, and the same for one consumer. */
#include "queue_peers.h"

#include <ipcwait/queue.h>

static void *create(unsigned flags)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(uint64_t),
						     .flags = flags };

	return ipcwait_queue_create(&params);
}

static void *create_any(const struct queue_shape *shape)
{
	(void)shape;
	return create(0);
}

static void *create_one_consumer(const struct queue_shape *shape)
{
	(void)shape;
	return create(IPCWAIT_QUEUE_ONE_CONSUMER);
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
	.create = create_any,
	.push = push,
	.pop = pop,
	.destroy = destroy,
	.take = take,
	.close = close_queue,
};

const struct queue_peer queue_ipcwait_mpsc = {
	.name = "ipcwait_mpsc",
	.nodes = "segments from a pool",
	.one_consumer = true,
	.create = create_one_consumer,
	.push = push,
	.pop = pop,
	.destroy = destroy,
	.take = take,
	.close = close_queue,
};
