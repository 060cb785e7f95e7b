/* SPDX-License-Identifier: MIT */
/*
 * libipcwait for C++17: ipcwait::queue<T>, the queue of <ipcwait/queue.h> for elements of any type
 * that can be moved. Unbounded as a rule, first in, first out, for any number of producers and
 * consumers of one process.
 *
 *	ipcwait::queue<std::unique_ptr<job>> jobs;
 *
 *	jobs.push(std::make_unique<job>());     // producers
 *	jobs.close();
 *	while (auto j = jobs.pop())             // consumers, until it is closed and empty
 *		(*j)->work();
 *
 * Members have the names of oneTBB's queues, with pop_for() and pop_until(), or those of
 * moodycamel's: see impl/queue_base.hpp, which also has what spsc_queue shares. Nothing waits for
 * room, so push() and try_push() are the same: with max_elems both refuse what is beyond.
 *
 * Elements: the bytes of a T that is trivially copyable, up to IPCWAIT_QUEUE_ELEM_MAX. Any other T
 * lives in a pool that belongs to the queue, and the queue carries its address: 1 to 2 ns more for
 * a push and pop. std::pair and std::tuple are of the second kind.
 *
 * Exceptions: of a constructor; std::bad_alloc; std::system_error where the kernel forbids
 * futex(2), ENOSYS. Nothing was added then: a bulk call that has added some returns their number,
 * and the next one throws. What a push of T && could not add is in its argument again, if T can
 * be assigned, and so is what a bulk could not. An element that was taken, and whose move to its
 * destination throws, is gone, and so are those taken with it by a bulk call; of a bulk also those
 * whose move back throws, and those behind. Nothing leaks, and the queue is as good as before. In a
 * program without exceptions (-fno-exceptions) std::abort() ends it where one would be thrown.
 *
 * Closed: pushes return false from then on, and pops when nothing is left. result::closed() tells
 * that from "there is none".
 *
 * Lifetime: a queue may be moved while nobody else uses it. What it has been moved from may be
 * assigned to or destroyed, and nothing else. Elements that are left at the end are destroyed.
 */
#ifndef IPCWAIT_QUEUE_HPP
#define IPCWAIT_QUEUE_HPP

#include <ipcwait/impl/queue_base.hpp>
#include <ipcwait/queue.h>

namespace ipcwait
{

namespace impl
{

struct queue_calls {
	using object = ipcwait_queue;
	using params = ipcwait_queue_params;

	static constexpr const char *name = "ipcwait::queue";
	static constexpr std::size_t elem_max = IPCWAIT_QUEUE_ELEM_MAX;
	static constexpr auto params_check = ipcwait_queue_params_check;
	static constexpr auto create = ipcwait_queue_create;
	static constexpr auto destroy = ipcwait_queue_destroy;
	static constexpr auto push = ipcwait_queue_push;
	static constexpr auto push_n = ipcwait_queue_push_n;
	static constexpr auto trypop = ipcwait_queue_trypop;
	static constexpr auto pop = ipcwait_queue_pop;
	static constexpr auto pop_until = ipcwait_queue_pop_until;
	static constexpr auto pop_n = ipcwait_queue_pop_n;
	static constexpr auto close = ipcwait_queue_close;
	static constexpr auto length = ipcwait_queue_length;

	static std::int64_t pop_n_until(ipcwait_queue *q, void *elems, std::size_t n,
					std::int64_t deadline_ns, std::size_t)
	{
		return ipcwait_queue_pop_n_until(q, elems, n, deadline_ns);
	}
};

} // namespace impl

struct queue_options {
	std::uint64_t max_elems = 0; /* a push beyond is refused; 0: no bound */
	unsigned flags = 0;          /* IPCWAIT_QUEUE_ONE_CONSUMER */
};

template <class T> class queue : public impl::queue_base<T, impl::queue_calls>
{
	using calls = impl::queue_calls;
	using base = impl::queue_base<T, calls>;

      public:
	/* Throws std::bad_alloc, or std::system_error with EINVAL. */
	queue() : queue(queue_options())
	{
	}
	explicit queue(const queue_options &options) : base(params(options))
	{
	}

	/* False: closed, or there are max_elems. */
	result push(const T &x)
	{
		return impl::outcome(this->give(calls::push, x), calls::name);
	}
	result push(T &&x)
	{
		return impl::outcome(this->give(calls::push, std::move(x)), calls::name);
	}
	template <class... Args> result emplace(Args &&...args)
	{
		return impl::outcome(this->make(calls::push, std::forward<Args>(args)...),
				     calls::name);
	}

	/*
	 * The first of @n elements from @first, in their order, though others may come between.
	 * How many: fewer if it was closed or full then, or memory ended, or the next one could
	 * not be copied. What a std::move_iterator over objects of type T has moved and was not
	 * added is in its place again.
	 */
	template <class It> std::size_t push_bulk(It first, std::size_t n)
	{
		return this->give_many(calls::push_n, first, n).or_fail(calls::name);
	}

	/* The same by the names that spsc_queue has for what does not wait. */
	result try_push(const T &x)
	{
		return push(x);
	}
	result try_push(T &&x)
	{
		return push(std::move(x));
	}
	template <class... Args> result try_emplace(Args &&...args)
	{
		return emplace(std::forward<Args>(args)...);
	}
	template <class It> std::size_t try_push_bulk(It first, std::size_t n)
	{
		return push_bulk(first, n);
	}

      private:
	static ipcwait_queue_params params(const queue_options &options)
	{
		ipcwait_queue_params p = {};

		p.max_elems = options.max_elems;
		p.flags = options.flags;
		return p;
	}
};

} // namespace ipcwait

#endif
