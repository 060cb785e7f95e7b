/* SPDX-License-Identifier: MIT */
#include "abseil_mutex.h"
#include "peer_ops.h"

#include <new>

namespace
{

struct pair {
	absl::Mutex mutex;
	absl::CondVar cond[2];
};

static_assert(sizeof(pair) <= sizeof(cond_room), "the room holds them");

pair *as_pair(void *room)
{
	return static_cast<pair *>(room);
}

void init(void *room) noexcept
{
	abseil_as_released();
	new (room) pair;
}

void lock(void *room) noexcept
{
	as_pair(room)->mutex.Lock();
}

void unlock(void *room) noexcept
{
	as_pair(room)->mutex.Unlock();
}

void wait(void *room, int which) noexcept
{
	as_pair(room)->cond[which].Wait(&as_pair(room)->mutex);
}

void signal_one(void *room, int which) noexcept
{
	as_pair(room)->cond[which].Signal();
}

void broadcast(void *room, int which) noexcept
{
	as_pair(room)->cond[which].SignalAll();
}

void end(void *room) noexcept
{
	as_pair(room)->~pair();
}

} /* namespace */

const cond_ops cond_abseil = {
	"abseil", init, lock, unlock, wait, signal_one, broadcast, end,
};
