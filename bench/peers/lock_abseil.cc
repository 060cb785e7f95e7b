/* SPDX-License-Identifier: MIT */
#include "abseil_mutex.h"
#include "peer_ops.h"

#include <new>

namespace
{

static_assert(sizeof(absl::Mutex) <= sizeof(lock_room), "the room holds the lock");

void init(void *lock) noexcept
{
	abseil_as_released();
	new (lock) absl::Mutex;
}

void acquire(void *lock, lock_hold *) noexcept
{
	static_cast<absl::Mutex *>(lock)->Lock();
}

void release(void *lock, lock_hold *) noexcept
{
	static_cast<absl::Mutex *>(lock)->Unlock();
}

void end(void *lock) noexcept
{
	static_cast<absl::Mutex *>(lock)->~Mutex();
}

} /* namespace */

const lock_ops lock_abseil = { "abseil", init, acquire, release, end };
