/* SPDX-License-Identifier: MIT */
/* The semaphore of the C++ standard, of the compiler's own library. */
#include "peer_ops.h"

#include <new>
#include <semaphore>

namespace
{

using semaphore = std::counting_semaphore<>;

static_assert(sizeof(semaphore) <= sizeof(sem_room), "the room holds the semaphore");

void init(void *sem) noexcept
{
	new (sem) semaphore(0);
}

void wait(void *sem) noexcept
{
	static_cast<semaphore *>(sem)->acquire();
}

void post(void *sem) noexcept
{
	static_cast<semaphore *>(sem)->release();
}

void end(void *sem) noexcept
{
	static_cast<semaphore *>(sem)->~semaphore();
}

} /* namespace */

const sem_ops sem_cxx20 = { "cxx20", init, wait, post, end };
