/* SPDX-License-Identifier: MIT */
/* The members that ipcwait::channel and ipcwait::shared_channel have in common. */
#ifndef IPCWAIT_IMPL_CHANNEL_BASE_HPP
#define IPCWAIT_IMPL_CHANNEL_BASE_HPP

#include <ipcwait/channel.h>
#include <ipcwait/impl/carrier.hpp>

namespace ipcwait
{
namespace impl
{

struct channel_base_calls {
	using object = ipcwait_channel;
	using params = ipcwait_channel_params;

	static constexpr auto params_check = ipcwait_channel_params_check;
	static constexpr auto create = ipcwait_channel_create;
	static constexpr auto destroy = ipcwait_channel_destroy;
	static constexpr auto send = ipcwait_channel_send;
	static constexpr auto trysend = ipcwait_channel_trysend;
	static constexpr auto send_until = ipcwait_channel_send_until;
	static constexpr auto send_n = ipcwait_channel_send_n;
	static constexpr auto recv = ipcwait_channel_recv;
	static constexpr auto tryrecv = ipcwait_channel_tryrecv;
	static constexpr auto recv_until = ipcwait_channel_recv_until;
	static constexpr auto recv_n = ipcwait_channel_recv_n;
	static constexpr auto close = ipcwait_channel_close;
	static constexpr auto length = ipcwait_channel_length;

	/* What goes on when the first has come. */
	static std::int64_t pop_n(ipcwait_channel *ch, void *elems, std::size_t n)
	{
		return recv_n(ch, elems, n, 0);
	}
	/* A receive that finds nothing must be the one that the eventfd waits for. */
	static std::int64_t tryrecv_n(ipcwait_channel *ch, void *elems, std::size_t n)
	{
		std::int64_t r = pop_n(ch, elems, n);

		if (r != -ETIMEDOUT)
			return r;
		r = tryrecv(ch, elems);
		return r ? r : 1;
	}
};

template <class T, class C> class channel_base : public carrier<T, C>
{
	using base = carrier<T, C>;

      public:
	/* Waits for room, or for a receiver. False: closed. */
	result send(const T &x)
	{
		return sent(C::send, x);
	}
	result send(T &&x)
	{
		return sent(C::send, std::move(x));
	}
	/* Does not wait. */
	result try_send(const T &x)
	{
		return sent(C::trysend, x);
	}
	result try_send(T &&x)
	{
		return sent(C::trysend, std::move(x));
	}
	template <class Rep, class Period>
	result send_for(const T &x, const std::chrono::duration<Rep, Period> &time)
	{
		return sent(timed<C::send_until>(time), x);
	}
	template <class Rep, class Period>
	result send_for(T &&x, const std::chrono::duration<Rep, Period> &time)
	{
		return sent(timed<C::send_until>(time), std::move(x));
	}
	template <class Clock, class Duration>
	result send_until(const T &x, const std::chrono::time_point<Clock, Duration> &end)
	{
		return sent(timed<C::send_until>(end), x);
	}
	template <class Clock, class Duration>
	result send_until(T &&x, const std::chrono::time_point<Clock, Duration> &end)
	{
		return sent(timed<C::send_until>(end), std::move(x));
	}

	/* Waits for an element. False, nothing: closed and drained. */
	result recv(T &dest)
	{
		return this->take(C::recv, dest);
	}
	std::optional<T> recv()
	{
		return this->take(C::recv);
	}
	/* Does not wait. */
	result try_recv(T &dest)
	{
		return this->take(C::tryrecv, dest);
	}
	std::optional<T> try_recv()
	{
		return this->take(C::tryrecv);
	}
	template <class Rep, class Period>
	result recv_for(T &dest, const std::chrono::duration<Rep, Period> &time)
	{
		return this->take(timed<C::recv_until>(time), dest);
	}
	template <class Rep, class Period>
	std::optional<T> recv_for(const std::chrono::duration<Rep, Period> &time)
	{
		return this->take(timed<C::recv_until>(time));
	}
	template <class Clock, class Duration>
	result recv_until(T &dest, const std::chrono::time_point<Clock, Duration> &end)
	{
		return this->take(timed<C::recv_until>(end), dest);
	}
	template <class Clock, class Duration>
	std::optional<T> recv_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return this->take(timed<C::recv_until>(end));
	}

	/*
	 * The first of @n elements from @first, in their order, though those of other senders may
	 * come between. How many: fewer if it was closed or the deadline reached then, or the next
	 * one could not be copied. Throws only if it has sent none. What a std::move_iterator over
	 * objects of type T has moved and was not sent is in its place again.
	 */
	template <class It> std::size_t send_bulk(It first, std::size_t n)
	{
		return send_many(timed_ns<C::send_n>(IPCWAIT_FOREVER), first, n);
	}
	/* As many as there is room for; with capacity 0, as receivers that wait. */
	template <class It> std::size_t try_send_bulk(It first, std::size_t n)
	{
		return send_many(timed_ns<C::send_n>(0), first, n);
	}
	template <class It, class Rep, class Period>
	std::size_t send_bulk_for(It first, std::size_t n,
				  const std::chrono::duration<Rep, Period> &time)
	{
		return send_many(timed<C::send_n>(time), first, n);
	}
	template <class It, class Clock, class Duration>
	std::size_t send_bulk_until(It first, std::size_t n,
				    const std::chrono::time_point<Clock, Duration> &end)
	{
		return send_many(timed<C::send_n>(end), first, n);
	}

	/*
	 * Waits for one, then takes those that are there to where @out points, up to @n. How
	 * many; 0: closed and drained, or the deadline.
	 */
	template <class Out> std::size_t recv_bulk(Out out, std::size_t n)
	{
		return recv_many(timed_ns<C::recv_n>(IPCWAIT_FOREVER), out, n);
	}
	template <class Out> std::size_t try_recv_bulk(Out out, std::size_t n)
	{
		return recv_many(C::tryrecv_n, out, n);
	}
	template <class Out, class Rep, class Period>
	std::size_t recv_bulk_for(Out out, std::size_t n,
				  const std::chrono::duration<Rep, Period> &time)
	{
		return recv_many(timed<C::recv_n>(time), out, n);
	}
	template <class Out, class Clock, class Duration>
	std::size_t recv_bulk_until(Out out, std::size_t n,
				    const std::chrono::time_point<Clock, Duration> &end)
	{
		return recv_many(timed<C::recv_n>(end), out, n);
	}

	/* What a range-for needs: each step receives an element, which the body may move from. */
	struct sentinel {
	};
	class iterator
	{
	      public:
		explicit iterator(channel_base &from) : from_(from)
		{
			++*this;
		}
		T &operator*() noexcept
		{
			return *x_;
		}
		iterator &operator++()
		{
			x_.reset();
			from_.take_into(x_);
			return *this;
		}
		bool operator!=(sentinel) const noexcept
		{
			return x_.has_value();
		}

	      private:
		channel_base &from_;
		std::optional<T> x_;
	};
	iterator begin()
	{
		return iterator(*this);
	}
	sentinel end() const noexcept
	{
		return {};
	}

	/*
	 * Cases for select(). The argument must live until that returns; what is received comes
	 * as bytes, so @dest is not a base class of something.
	 */
	ipcwait_channel_case receiving(T &dest) noexcept
	{
		return select_case(IPCWAIT_CHANNEL_RECV, std::addressof(dest));
	}
	ipcwait_channel_case sending(const T &x) noexcept
	{
		return select_case(IPCWAIT_CHANNEL_SEND,
				   const_cast<T *>(std::addressof(x)));
	}
	ipcwait_channel_case sending(const T &&x) = delete;

      protected:
	using base::base;

      private:
	template <class Push, class X> result sent(Push push, X &&x)
	{
		return outcome(this->give(push, std::forward<X>(x)), C::name);
	}
	template <class Push, class It>
	std::size_t send_many(Push push, It first, std::size_t n)
	{
		return this->give_many(push, first, n).or_fail(C::name);
	}
	template <class Pop, class Out>
	std::size_t recv_many(Pop pop, Out out, std::size_t n)
	{
		return this->take_many(pop, out, n).or_fail(C::name);
	}
	void take_into(std::optional<T> &dest)
	{
		if (auto x = recv())
			dest.emplace(std::move(*x));
	}
	ipcwait_channel_case select_case(int op, void *elem) noexcept
	{
		static_assert(!base::store::by_address,
			      "only trivially copyable elements can be selected");
		return { this->native_handle(), op, elem, 0 };
	}
};

} // namespace impl
} // namespace ipcwait

#endif
