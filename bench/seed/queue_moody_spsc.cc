/* SPDX-License-Identifier: MIT */
/* moodycamel's queue for two threads, which grows by blocks that it uses again. */
#include "queue_peers.h"

#include <new>
#include <readerwriterqueue/readerwriterqueue.h>

using moody = moodycamel::ReaderWriterQueue<uint64_t>;

static void *create(const queue_shape *shape)
{
	return new (std::nothrow) moody(shape->capacity);
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

const queue_peer queue_moodycamel_spsc = {
	"moodycamel_spsc",
	"blocks used again",
	nullptr,
	true,
	false,
	false,
	create,
	push,
	pop,
	destroy,
	nullptr,
	nullptr,
	false,
};
