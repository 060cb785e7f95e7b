/* SPDX-License-Identifier: MIT */
/*
 * libipcwait for C++17: ipcwait::channel<T>, the channel of <ipcwait/channel.h> for elements of any
 * type that can be moved. With capacity 0, the default, a sender waits until a receiver has taken
 * its element.
 *
 *	ipcwait::channel<std::string> lines(100);
 *
 *	lines.send(std::move(line));            // any threads
 *	lines.close();
 *	for (std::string &line : lines)         // any threads, until it is closed and drained
 *		use(line);
 *
 * Elements, exceptions, what closed means and lifetime are as in <ipcwait/queue.hpp>; here the
 * bytes of elements up to 64 KiB are in the channel.
 *
 * select() and its like do the first that can be done of several sends and receives, of trivially
 * copyable elements up to 64 KiB only: others would have to be constructed for sends that do not
 * happen.
 *
 *	int i;
 *	stop s;
 *	switch (ipcwait::select(numbers.receiving(i), stops.receiving(s)).index) { ... }
 */
#ifndef IPCWAIT_CHANNEL_HPP
#define IPCWAIT_CHANNEL_HPP

#include <ipcwait/channel.h>
#include <ipcwait/impl/carrier.hpp>

namespace ipcwait
{

namespace impl
{

struct channel_calls {
	using object = ipcwait_channel;
	using params = ipcwait_channel_params;

	static constexpr const char *name = "ipcwait::channel";
	static constexpr std::size_t elem_max = 65536;
	static constexpr auto params_check = ipcwait_channel_params_check;
	static constexpr auto create = ipcwait_channel_create;
	static constexpr auto destroy = ipcwait_channel_destroy;
	static constexpr auto send = ipcwait_channel_send;
	static constexpr auto trysend = ipcwait_channel_trysend;
	static constexpr auto send_until = ipcwait_channel_send_until;
	static constexpr auto recv = ipcwait_channel_recv;
	static constexpr auto tryrecv = ipcwait_channel_tryrecv;
	static constexpr auto recv_until = ipcwait_channel_recv_until;
	static constexpr auto close = ipcwait_channel_close;
	static constexpr auto length = ipcwait_channel_length;
};

} // namespace impl

template <class T> class channel : public impl::carrier<T, impl::channel_calls>
{
	using calls = impl::channel_calls;
	using base = impl::carrier<T, calls>;

      public:
	/* Throws std::bad_alloc, or std::system_error with EINVAL. */
	explicit channel(std::uint64_t capacity = 0) : base(params(capacity))
	{
	}

	/* Waits for room, or for a receiver. False: closed. */
	result send(const T &x)
	{
		return sent(calls::send, x);
	}
	result send(T &&x)
	{
		return sent(calls::send, std::move(x));
	}
	/* Does not wait. */
	result try_send(const T &x)
	{
		return sent(calls::trysend, x);
	}
	result try_send(T &&x)
	{
		return sent(calls::trysend, std::move(x));
	}
	template <class Rep, class Period>
	result send_for(const T &x, const std::chrono::duration<Rep, Period> &time)
	{
		return sent(impl::timed<calls::send_until>(time), x);
	}
	template <class Rep, class Period>
	result send_for(T &&x, const std::chrono::duration<Rep, Period> &time)
	{
		return sent(impl::timed<calls::send_until>(time), std::move(x));
	}
	template <class Clock, class Duration>
	result send_until(const T &x, const std::chrono::time_point<Clock, Duration> &end)
	{
		return sent(impl::timed<calls::send_until>(end), x);
	}
	template <class Clock, class Duration>
	result send_until(T &&x, const std::chrono::time_point<Clock, Duration> &end)
	{
		return sent(impl::timed<calls::send_until>(end), std::move(x));
	}

	/* Waits for an element. False, nothing: closed and drained. */
	result recv(T &dest)
	{
		return this->take(calls::recv, dest);
	}
	std::optional<T> recv()
	{
		return this->take(calls::recv);
	}
	/* Does not wait. */
	result try_recv(T &dest)
	{
		return this->take(calls::tryrecv, dest);
	}
	std::optional<T> try_recv()
	{
		return this->take(calls::tryrecv);
	}
	template <class Rep, class Period>
	result recv_for(T &dest, const std::chrono::duration<Rep, Period> &time)
	{
		return this->take(impl::timed<calls::recv_until>(time), dest);
	}
	template <class Rep, class Period>
	std::optional<T> recv_for(const std::chrono::duration<Rep, Period> &time)
	{
		return this->take(impl::timed<calls::recv_until>(time));
	}
	template <class Clock, class Duration>
	result recv_until(T &dest, const std::chrono::time_point<Clock, Duration> &end)
	{
		return this->take(impl::timed<calls::recv_until>(end), dest);
	}
	template <class Clock, class Duration>
	std::optional<T> recv_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return this->take(impl::timed<calls::recv_until>(end));
	}

	/* What a range-for needs: each step receives an element, which the body may move from. */
	struct sentinel {
	};
	class iterator
	{
	      public:
		explicit iterator(channel &from) : from_(from)
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
		channel &from_;
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

      private:
	static ipcwait_channel_params params(std::uint64_t capacity)
	{
		ipcwait_channel_params p = {};

		p.capacity = capacity;
		return p;
	}
	template <class Push, class X> result sent(Push push, X &&x)
	{
		return impl::outcome(this->give(push, std::forward<X>(x)), calls::name);
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

/* Which case was done, from 0, and whether its channel was closed; or -1, and timed out. */
struct selection {
	int index;
	result how;
};

namespace impl
{

template <class... Cases> selection select_until(std::int64_t deadline_ns, Cases... cases)
{
	ipcwait_channel_case all[] = { cases... };
	int r = ipcwait_channel_select(all, sizeof...(cases), deadline_ns);

	return r < 0 ? selection{ -1, outcome(r, "ipcwait::select") }
		     : selection{ r, result(all[r].result) };
}

} // namespace impl

/* @cases: what receiving() and sending() of channels have returned. */
template <class... Cases> selection select(Cases... cases)
{
	return impl::select_until(IPCWAIT_FOREVER, cases...);
}
template <class... Cases> selection try_select(Cases... cases)
{
	return impl::select_until(0, cases...);
}
template <class Rep, class Period, class... Cases>
selection select_for(const std::chrono::duration<Rep, Period> &time, Cases... cases)
{
	return impl::select_until(impl::deadline_in(time), cases...);
}

} // namespace ipcwait

#endif
