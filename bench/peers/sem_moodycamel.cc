/* SPDX-License-Identifier: MIT */
/* What moodycamel's blocking queue waits with: up to 10000 looks, then sem_t. */
#include "peer_ops.h"
#include "../../tools/common/complain.h"

/* The semaphore has a header of its own, which cannot stand alone. */
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <new>

namespace
{

using semaphore = moodycamel::LightweightSemaphore;

static_assert(sizeof(semaphore) <= sizeof(sem_room), "the room holds the semaphore");

void init(void *sem) noexcept
{
	new (sem) semaphore;
}

void wait(void *sem) noexcept
{
	if (!static_cast<semaphore *>(sem)->wait())
		give_up("LightweightSemaphore::wait() failed");
}

void post(void *sem) noexcept
{
	static_cast<semaphore *>(sem)->signal();
}

void end(void *sem) noexcept
{
	static_cast<semaphore *>(sem)->~semaphore();
}

} /* namespace */

const sem_ops sem_moodycamel = { "moodycamel", init, wait, post, end };
