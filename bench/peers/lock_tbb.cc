/* SPDX-License-Identifier: MIT */
/*
 * Three of oneTBB's mutexes: the one that spins and then sleeps, the one that spins and yields,
 * and the queue lock, of which the same is true.
 */
#include "peer_ops.h"

#include <new>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>

namespace
{

using node = tbb::queuing_mutex::scoped_lock;

static_assert(sizeof(tbb::mutex) <= sizeof(lock_room) &&
		      sizeof(tbb::spin_mutex) <= sizeof(lock_room) &&
		      sizeof(tbb::queuing_mutex) <= sizeof(lock_room),
	      "the room holds the lock");
static_assert(sizeof(node) <= sizeof(lock_hold), "the hold holds the node of the queue");

template <class Mutex> void init(void *lock) noexcept
{
	new (lock) Mutex;
}

template <class Mutex> void acquire(void *lock, lock_hold *) noexcept
{
	static_cast<Mutex *>(lock)->lock();
}

template <class Mutex> void release(void *lock, lock_hold *) noexcept
{
	static_cast<Mutex *>(lock)->unlock();
}

template <class Mutex> void end(void *lock) noexcept
{
	static_cast<Mutex *>(lock)->~Mutex();
}

void queuing_acquire(void *lock, lock_hold *hold) noexcept
{
	new (hold) node(*static_cast<tbb::queuing_mutex *>(lock));
}

void queuing_release(void *, lock_hold *hold) noexcept
{
	reinterpret_cast<node *>(hold)->~node();
}

} /* namespace */

const lock_ops lock_tbb = { "tbb", init<tbb::mutex>, acquire<tbb::mutex>,
			    release<tbb::mutex>, end<tbb::mutex> };
const lock_ops lock_tbb_spin = { "tbb-spin", init<tbb::spin_mutex>,
				 acquire<tbb::spin_mutex>, release<tbb::spin_mutex>,
				 end<tbb::spin_mutex> };
const lock_ops lock_tbb_queuing = { "tbb-queuing", init<tbb::queuing_mutex>,
				    queuing_acquire, queuing_release,
				    end<tbb::queuing_mutex> };
