/* SPDX-License-Identifier: MIT */
/* oneTBB's concurrent_queue: items in pages, which come from its own allocator. */
#include "queue_peers.h"

#include <new>
#include <tbb/concurrent_queue.h>

using queue_of_tbb = tbb::concurrent_queue<uint64_t>;

static void *create(const queue_shape *)
{
	return new (std::nothrow) queue_of_tbb;
}

static bool push(void *queue, uint64_t value)
{
	static_cast<queue_of_tbb *>(queue)->push(value);
	return true;
}

static bool pop(void *queue, uint64_t *value)
{
	return static_cast<queue_of_tbb *>(queue)->try_pop(*value);
}

static void destroy(void *queue)
{
	delete static_cast<queue_of_tbb *>(queue);
}

const queue_peer queue_tbb = {
	"tbb", "pages of nodes", nullptr, false,   false, false, create, push,
	pop,   destroy,          nullptr, nullptr, false,
};
