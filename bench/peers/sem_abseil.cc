/* SPDX-License-Identifier: MIT */
/*
 * A count under absl::Mutex with a Condition, as abseil recommends over its CondVar: whoever
 * unlocks looks whether a waiter's condition holds.
 */
#include "abseil_mutex.h"
#include "peer_ops.h"

#include <new>

namespace
{

struct counted {
	absl::Mutex mutex;
	unsigned long tokens = 0;
};

static_assert(sizeof(counted) <= sizeof(sem_room), "the room holds the semaphore");

bool has_tokens(counted *s)
{
	return s->tokens != 0;
}

void init(void *sem) noexcept
{
	abseil_as_released();
	new (sem) counted;
}

void wait(void *sem) noexcept
{
	auto *s = static_cast<counted *>(sem);

	s->mutex.LockWhen(absl::Condition(has_tokens, s));
	s->tokens--;
	s->mutex.Unlock();
}

void post(void *sem) noexcept
{
	auto *s = static_cast<counted *>(sem);

	s->mutex.Lock();
	s->tokens++;
	s->mutex.Unlock();
}

void end(void *sem) noexcept
{
	static_cast<counted *>(sem)->~counted();
}

} /* namespace */

const sem_ops sem_abseil = { "abseil", init, wait, post, end };
