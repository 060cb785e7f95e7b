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
 * bytes of elements up to 64 KiB are in the channel. Bulk calls wait, or try, as single ones do.
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
#include <ipcwait/impl/channel_base.hpp>

namespace ipcwait
{

namespace impl
{

struct channel_calls : channel_base_calls {
	static constexpr const char *name = "ipcwait::channel";
	static constexpr std::size_t elem_max = 65536;
};

} // namespace impl

template <class T> class channel : public impl::channel_base<T, impl::channel_calls>
{
	using calls = impl::channel_calls;
	using base = impl::channel_base<T, calls>;

      public:
	/* Throws std::bad_alloc, or std::system_error with EINVAL. */
	explicit channel(std::uint64_t capacity = 0) : base(params(capacity))
	{
	}

	/*
	 * Readable, for poll(2) and the like, while the channel may have an element or is closed.
	 * When it is, call try_recv() or try_recv_bulk() until there is none, which makes it
	 * unreadable until the next comes; other receives do not. It belongs to the channel, and
	 * is the same in each call. Throws std::system_error with EMFILE or ENFILE, std::bad_alloc.
	 */
	int eventfd()
	{
		int fd = ipcwait_channel_eventfd(this->native_handle());

		if (fd < 0)
			impl::outcome(fd, calls::name);
		return fd;
	}

      private:
	static ipcwait_channel_params params(std::uint64_t capacity)
	{
		ipcwait_channel_params p = {};

		p.capacity = capacity;
		return p;
	}
};

/* Which case was done, from 0, and whether its channel was closed; or -1, and timed out. */
struct selection {
	int index;
	result how;
};

namespace impl
{

inline int select_ns(ipcwait_channel_case *cases, std::size_t n, std::int64_t deadline_ns)
{
	constexpr std::size_t too_many = IPCWAIT_WAIT_ANY_MAX + 1;

	return ipcwait_channel_select(cases, static_cast<unsigned>(std::min(n, too_many)),
				      deadline_ns);
}

/* @call is a form of select_ns() that knows until when. */
template <class Call>
selection selected(Call call, ipcwait_channel_case *cases, std::size_t n)
{
	constexpr const char *what = "ipcwait::select";
	int r = call(cases, n);

	return r < 0 ? selection{ -1, outcome(r, what) }
		     : selection{ r, outcome(cases[r].result, what) };
}

template <class Call, class... Cases>
selection selected_of(Call call, const Cases &...cases)
{
	ipcwait_channel_case all[] = { cases... };

	return selected(call, all, sizeof...(cases));
}

template <class... Cases>
using if_cases =
	std::enable_if_t<(std::is_convertible_v<Cases, ipcwait_channel_case> && ...)>;

} // namespace impl

/* @cases: what receiving() and sending() of channels have returned. */
template <class... Cases, class = impl::if_cases<Cases...>> selection select(Cases... cases)
{
	return impl::selected_of(impl::timed_ns<impl::select_ns>(IPCWAIT_FOREVER),
				 cases...);
}
template <class... Cases, class = impl::if_cases<Cases...>>
selection try_select(Cases... cases)
{
	return impl::selected_of(impl::timed_ns<impl::select_ns>(0), cases...);
}
template <class Rep, class Period, class... Cases, class = impl::if_cases<Cases...>>
selection select_for(const std::chrono::duration<Rep, Period> &time, Cases... cases)
{
	return impl::selected_of(impl::timed<impl::select_ns>(time), cases...);
}
template <class Clock, class Duration, class... Cases, class = impl::if_cases<Cases...>>
selection select_until(const std::chrono::time_point<Clock, Duration> &end, Cases... cases)
{
	return impl::selected_of(impl::timed<impl::select_ns>(end), cases...);
}

/* The same with @n cases in an array. One whose channel is NULL is never ready. */
inline selection select(ipcwait_channel_case *cases, std::size_t n)
{
	return impl::selected(impl::timed_ns<impl::select_ns>(IPCWAIT_FOREVER), cases, n);
}
inline selection try_select(ipcwait_channel_case *cases, std::size_t n)
{
	return impl::selected(impl::timed_ns<impl::select_ns>(0), cases, n);
}
template <class Rep, class Period>
selection select_for(const std::chrono::duration<Rep, Period> &time,
		     ipcwait_channel_case *cases, std::size_t n)
{
	return impl::selected(impl::timed<impl::select_ns>(time), cases, n);
}
template <class Clock, class Duration>
selection select_until(const std::chrono::time_point<Clock, Duration> &end,
		       ipcwait_channel_case *cases, std::size_t n)
{
	return impl::selected(impl::timed<impl::select_ns>(end), cases, n);
}

} // namespace ipcwait

#endif
