/* SPDX-License-Identifier: MIT */
/* moodycamel's queue: blocks of items that are used again, a sub-queue for each producer. */
#include "queue_peers.h"

#include <concurrentqueue/concurrentqueue.h>
#include <new>

using moody = moodycamel::ConcurrentQueue<uint64_t>;

static void *create(const queue_shape *shape)
{
	return new (std::nothrow) moody(shape->capacity, 0, shape->producers);
}

static bool push(void *queue, uint64_t value)
{
	return static_cast<moody *>(queue)->enqueue(value);
}

static bool pop(void *queue, uint64_t *value)
{
	return static_cast<moody *>(queue)->try_dequeue(*value);
}

static void destroy(void *queue)
{
	delete static_cast<moody *>(queue);
}

const queue_peer queue_moodycamel = {
	"moodycamel", "pool of blocks", nullptr, false,   false, false, create, push,
	pop,          destroy,          nullptr, nullptr, false,
};
