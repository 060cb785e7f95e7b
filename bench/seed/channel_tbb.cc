/* SPDX-License-Identifier: MIT */
/* oneTBB's bounded queue with room for one number. */
#include "channel.h"

#include <new>
#include <tbb/concurrent_queue.h>

using channel = tbb::concurrent_bounded_queue<int64_t>;

static void *create()
{
	channel *c = new (std::nothrow) channel;

	if (c)
		c->set_capacity(1);
	return c;
}

static void send(void *c, int64_t value)
{
	static_cast<channel *>(c)->push(value);
}

static int64_t receive(void *c)
{
	int64_t value = 0;

	static_cast<channel *>(c)->pop(value);
	return value;
}

static void destroy(void *c)
{
	delete static_cast<channel *>(c);
}

const channel_ops channel_tbb = { "tbb", nullptr, create, send, receive, destroy };
