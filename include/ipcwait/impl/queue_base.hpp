/* SPDX-License-Identifier: MIT */
/* The members that ipcwait::queue and ipcwait::spsc_queue have in common. */
#ifndef IPCWAIT_IMPL_QUEUE_BASE_HPP
#define IPCWAIT_IMPL_QUEUE_BASE_HPP

#include <ipcwait/impl/carrier.hpp>

namespace ipcwait
{
namespace impl
{

/* C::pop_n_until() for elements of a size, as a call that timed() takes. */
template <class C, std::size_t Size>
std::int64_t pop_some(typename C::object *q, void *elems, std::size_t n,
		      std::int64_t deadline_ns)
{
	return C::pop_n_until(q, elems, n, deadline_ns, Size);
}

template <class T, class C> class queue_base : public carrier<T, C>
{
	static constexpr auto pop_some = impl::pop_some<C, carrier<T, C>::store::elem_size>;

      public:
	/* Takes the oldest element; does not wait. */
	result try_pop(T &dest)
	{
		return this->take(C::trypop, dest);
	}
	std::optional<T> try_pop()
	{
		return this->take(C::trypop);
	}

	/* Takes the oldest element, however long it takes. False, nothing: closed and empty. */
	result pop(T &dest)
	{
		return this->take(C::pop, dest);
	}
	std::optional<T> pop()
	{
		return this->take(C::pop);
	}

	/* The same, until a deadline. An element that is there is taken even if it has passed. */
	template <class Rep, class Period>
	result pop_for(T &dest, const std::chrono::duration<Rep, Period> &time)
	{
		return this->take(timed<C::pop_until>(time), dest);
	}
	template <class Rep, class Period>
	std::optional<T> pop_for(const std::chrono::duration<Rep, Period> &time)
	{
		return this->take(timed<C::pop_until>(time));
	}
	template <class Clock, class Duration>
	result pop_until(T &dest, const std::chrono::time_point<Clock, Duration> &end)
	{
		return this->take(timed<C::pop_until>(end), dest);
	}
	template <class Clock, class Duration>
	std::optional<T> pop_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return this->take(timed<C::pop_until>(end));
	}

	/* Up to @n elements to where @out points, without waiting. How many. */
	template <class Out> std::size_t try_pop_bulk(Out out, std::size_t n)
	{
		return this->take_many(C::pop_n, out, n).or_fail(C::name);
	}

	/* Waits for one, then takes up to @n. How many; 0: closed and empty, or the deadline. */
	template <class Out> std::size_t pop_bulk(Out out, std::size_t n)
	{
		return this->take_many(timed_ns<pop_some>(IPCWAIT_FOREVER), out, n)
			.or_fail(C::name);
	}
	template <class Out, class Rep, class Period>
	std::size_t pop_bulk_for(Out out, std::size_t n,
				 const std::chrono::duration<Rep, Period> &time)
	{
		return this->take_many(timed<pop_some>(time), out, n).or_fail(C::name);
	}
	template <class Out, class Clock, class Duration>
	std::size_t pop_bulk_until(Out out, std::size_t n,
				   const std::chrono::time_point<Clock, Duration> &end)
	{
		return this->take_many(timed<pop_some>(end), out, n).or_fail(C::name);
	}

	/*
	 * As in moodycamel's queues. Where those have no memory, and throw nothing, neither do
	 * these; they may call the system for it, try or not. False, too, of a closed queue. A
	 * bulk may go in in part: push_bulk() and try_push_bulk() say how much of it.
	 */
	bool enqueue(const T &x)
	{
		return this->give(C::push, x) == 0;
	}
	bool enqueue(T &&x)
	{
		return this->give(C::push, std::move(x)) == 0;
	}
	bool try_enqueue(const T &x)
	{
		return enqueue(x);
	}
	bool try_enqueue(T &&x)
	{
		return enqueue(std::move(x));
	}
	template <class It> bool enqueue_bulk(It first, std::size_t n)
	{
		return this->give_many(C::push_n, first, n).done == n;
	}
	template <class It> bool try_enqueue_bulk(It first, std::size_t n)
	{
		return enqueue_bulk(first, n);
	}
	bool try_dequeue(T &dest)
	{
		return try_pop(dest);
	}
	template <class Out> std::size_t try_dequeue_bulk(Out out, std::size_t n)
	{
		return try_pop_bulk(out, n);
	}
	/* False: closed and empty. */
	bool wait_dequeue(T &dest)
	{
		return pop(dest);
	}
	template <class Rep, class Period>
	bool wait_dequeue_timed(T &dest, const std::chrono::duration<Rep, Period> &time)
	{
		return pop_for(dest, time);
	}
	/* Below zero: for ever. */
	bool wait_dequeue_timed(T &dest, std::int64_t usecs)
	{
		return usecs < 0 ? pop(dest)
				 : pop_for(dest, std::chrono::microseconds(usecs));
	}
	template <class Out> std::size_t wait_dequeue_bulk(Out out, std::size_t n)
	{
		return pop_bulk(out, n);
	}
	template <class Out, class Rep, class Period>
	std::size_t wait_dequeue_bulk_timed(Out out, std::size_t n,
					    const std::chrono::duration<Rep, Period> &time)
	{
		return pop_bulk_for(out, n, time);
	}
	template <class Out>
	std::size_t wait_dequeue_bulk_timed(Out out, std::size_t n, std::int64_t usecs)
	{
		return usecs < 0 ? pop_bulk(out, n)
				 : pop_bulk_for(out, n, std::chrono::microseconds(usecs));
	}

      protected:
	using carrier<T, C>::carrier;
};

} // namespace impl
} // namespace ipcwait

#endif
