/* SPDX-License-Identifier: MIT */
/*
 * libipcwait for C++17: ipcwait::spsc_queue<T>, the queue of <ipcwait/spsc.h> from one producer to
 * one consumer, for elements of any type that can be moved. With a capacity it is a ring and
 * producers may wait for room, without one it grows.
 *
 *	ipcwait::spsc_queue<std::string> lines(100);
 *
 *	lines.push(std::move(line));            // the producer
 *	lines.close();
 *	while (auto line = lines.pop())         // the consumer, until it is closed and empty
 *		use(*line);
 *
 * Elements, exceptions, what closed means and lifetime are as in <ipcwait/queue.hpp>; here the
 * bytes of elements up to 64 KiB are in the queue. To pop, and the names of moodycamel's queues,
 * are in impl/queue_base.hpp. enqueue() does not wait, push() does; so with those in bulk.
 *
 * Two producers or two consumers at a time are not noticed, and lose elements.
 */
#ifndef IPCWAIT_SPSC_HPP
#define IPCWAIT_SPSC_HPP

#include <ipcwait/impl/queue_base.hpp>
#include <ipcwait/spsc.h>

namespace ipcwait
{

namespace impl
{

struct spsc_calls {
	using object = ipcwait_spsc;
	using params = ipcwait_spsc_params;

	static constexpr const char *name = "ipcwait::spsc_queue";
	static constexpr std::size_t elem_max = 65536;
	static constexpr auto params_check = ipcwait_spsc_params_check;
	static constexpr auto create = ipcwait_spsc_create;
	static constexpr auto destroy = ipcwait_spsc_destroy;
	static constexpr auto push = ipcwait_spsc_push;
	static constexpr auto push_until = ipcwait_spsc_push_until;
	static constexpr auto push_n = ipcwait_spsc_push_n;
	static constexpr auto trypop = ipcwait_spsc_trypop;
	static constexpr auto pop = ipcwait_spsc_pop;
	static constexpr auto pop_until = ipcwait_spsc_pop_until;
	static constexpr auto pop_n = ipcwait_spsc_pop_n;
	static constexpr auto close = ipcwait_spsc_close;
	static constexpr auto length = ipcwait_spsc_length;

	/* Bulk calls of C do not wait: for the first element another one does. */
	static std::int64_t push_n_until(ipcwait_spsc *q, const void *elems, std::size_t n,
					 std::int64_t deadline_ns)
	{
		std::int64_t r = push_n(q, elems, n);

		if (r != -EAGAIN)
			return r;
		r = push_until(q, elems, deadline_ns);
		return r ? r : 1;
	}
	static std::int64_t pop_n_until(ipcwait_spsc *q, void *elems, std::size_t n,
					std::int64_t deadline_ns, std::size_t elem_size)
	{
		std::int64_t r = pop_n(q, elems, n);

		if (r != -EAGAIN)
			return r;
		r = pop_until(q, elems, deadline_ns);
		if (r)
			return r;
		r = n > 1 ? pop_n(q, static_cast<char *>(elems) + elem_size, n - 1) : 0;
		return 1 + (r > 0 ? r : 0);
	}
};

} // namespace impl

template <class T> class spsc_queue : public impl::queue_base<T, impl::spsc_calls>
{
	using calls = impl::spsc_calls;
	using base = impl::queue_base<T, calls>;

      public:
	/*
	 * For @capacity elements; 0: no bound. IPCWAIT_SPSC_NO_MEMBARRIER is a flag. Throws
	 * std::bad_alloc, or std::system_error with EINVAL.
	 */
	explicit spsc_queue(std::uint64_t capacity = 0, unsigned flags = 0)
	    : base(params(capacity, flags))
	{
	}

	/* The producer. Does not wait: false: full, or closed. */
	result try_push(const T &x)
	{
		return impl::outcome(this->give(calls::push, x), calls::name);
	}
	result try_push(T &&x)
	{
		return impl::outcome(this->give(calls::push, std::move(x)), calls::name);
	}
	template <class... Args> result try_emplace(Args &&...args)
	{
		return impl::outcome(this->make(calls::push, std::forward<Args>(args)...),
				     calls::name);
	}
	/* The first of @n elements, as many as there is room for; see queue::push_bulk(). */
	template <class It> std::size_t try_push_bulk(It first, std::size_t n)
	{
		return push_many(calls::push_n, first, n);
	}

	/* The producer. Waits for room. False: closed. */
	result push(const T &x)
	{
		return impl::outcome(this->give(when_room, x), calls::name);
	}
	result push(T &&x)
	{
		return impl::outcome(this->give(when_room, std::move(x)), calls::name);
	}
	template <class... Args> result emplace(Args &&...args)
	{
		return impl::outcome(this->make(when_room, std::forward<Args>(args)...),
				     calls::name);
	}

	/* The same, until a deadline. */
	template <class Rep, class Period>
	result push_for(const T &x, const std::chrono::duration<Rep, Period> &time)
	{
		return impl::outcome(this->give(impl::timed<calls::push_until>(time), x),
				     calls::name);
	}
	template <class Rep, class Period>
	result push_for(T &&x, const std::chrono::duration<Rep, Period> &time)
	{
		auto push = impl::timed<calls::push_until>(time);

		return impl::outcome(this->give(push, std::move(x)), calls::name);
	}
	template <class Clock, class Duration>
	result push_until(const T &x, const std::chrono::time_point<Clock, Duration> &end)
	{
		return impl::outcome(this->give(impl::timed<calls::push_until>(end), x),
				     calls::name);
	}
	template <class Clock, class Duration>
	result push_until(T &&x, const std::chrono::time_point<Clock, Duration> &end)
	{
		auto push = impl::timed<calls::push_until>(end);

		return impl::outcome(this->give(push, std::move(x)), calls::name);
	}

	/* The same of many: how many, fewer than @n if it was closed or the deadline reached. */
	template <class It> std::size_t push_bulk(It first, std::size_t n)
	{
		return push_many(impl::timed_ns<calls::push_n_until>(IPCWAIT_FOREVER),
				 first, n);
	}
	template <class It, class Rep, class Period>
	std::size_t push_bulk_for(It first, std::size_t n,
				  const std::chrono::duration<Rep, Period> &time)
	{
		return push_many(impl::timed<calls::push_n_until>(time), first, n);
	}
	template <class It, class Clock, class Duration>
	std::size_t push_bulk_until(It first, std::size_t n,
				    const std::chrono::time_point<Clock, Duration> &end)
	{
		return push_many(impl::timed<calls::push_n_until>(end), first, n);
	}

	/* The consumer. The oldest element where it lies, until it is popped; NULL: none. */
	T *front()
	{
		static_assert(base::store::by_address || alignof(T) <= 128,
			      "elements do not lie at multiples of more than 128");
		std::size_t n = 1;
		const void *elem = ipcwait_spsc_peek(this->native_handle(), &n);

		return elem ? base::store::at(const_cast<void *>(elem)) : nullptr;
	}
	/* Destroys it. False: none. */
	bool pop_front()
	{
		T *x = front();

		if (!x)
			return false;
		impl::check(ipcwait_spsc_release(this->native_handle(), 1), calls::name);
		this->stored().drop(x);
		return true;
	}

      private:
	template <class Push, class It>
	std::size_t push_many(Push push, It first, std::size_t n)
	{
		return this->give_many(push, first, n).or_fail(calls::name);
	}
	static ipcwait_spsc_params params(std::uint64_t capacity, unsigned flags)
	{
		ipcwait_spsc_params p = {};

		p.capacity = capacity;
		p.flags = flags;
		return p;
	}
	static int when_room(ipcwait_spsc *q, const void *elem)
	{
		return ipcwait_spsc_push_until(q, elem, IPCWAIT_FOREVER);
	}
};

} // namespace ipcwait

#endif
