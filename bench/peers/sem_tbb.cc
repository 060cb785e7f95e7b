/* SPDX-License-Identifier: MIT */
/*
 * oneTBB has no semaphore. Its blocking queue stands in for one: a token is an element that
 * says nothing, and a queue without a capacity never blocks the post.
 */
#include "peer_ops.h"

#include <new>
#include <oneapi/tbb/concurrent_queue.h>

namespace
{

using queue = tbb::concurrent_bounded_queue<char>;

static_assert(sizeof(queue) <= sizeof(sem_room), "the room holds the queue");

void init(void *sem) noexcept
{
	new (sem) queue;
}

void wait(void *sem) noexcept
{
	char token;

	static_cast<queue *>(sem)->pop(token);
}

void post(void *sem) noexcept
{
	static_cast<queue *>(sem)->push(0);
}

void end(void *sem) noexcept
{
	static_cast<queue *>(sem)->~queue();
}

} /* namespace */

const sem_ops sem_tbb = { "tbb", init, wait, post, end };
