/* SPDX-License-Identifier: MIT */
/* Boost.Lockfree: a linked queue with a free list of nodes, and a ring for two threads. */
#include "queue_peers.h"

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <new>

using linked = boost::lockfree::queue<uint64_t>;
using ring = boost::lockfree::spsc_queue<uint64_t>;

template <class Queue> static void *create(const queue_shape *shape)
{
	return new (std::nothrow) Queue(shape->capacity);
}

template <class Queue> static bool push(void *queue, uint64_t value)
{
	return static_cast<Queue *>(queue)->push(value);
}

template <class Queue> static bool pop(void *queue, uint64_t *value)
{
	return static_cast<Queue *>(queue)->pop(*value);
}

template <class Queue> static void destroy(void *queue)
{
	delete static_cast<Queue *>(queue);
}

const queue_peer queue_boost = {
	"boost", "pool of nodes", nullptr,      false,       false,
	false,   create<linked>,  push<linked>, pop<linked>, destroy<linked>,
	nullptr, nullptr,         false,
};

const queue_peer queue_boost_spsc = {
	"boost_spsc", "array",   nullptr,       true,    true,    false, create<ring>,
	push<ring>,   pop<ring>, destroy<ring>, nullptr, nullptr, false,
};
