/* SPDX-License-Identifier: MIT */
/* What the C++ classes over queues and channels share. Not API, but for ipcwait::result. */
#ifndef IPCWAIT_IMPL_CARRIER_HPP
#define IPCWAIT_IMPL_CARRIER_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <ipcwait/impl/elements.hpp>

namespace ipcwait
{

/*
 * Whether an element went in or came out, and why not. Neither closed nor timed out: there was no
 * room, or no element.
 */
class result
{
      public:
	constexpr explicit result(int r) noexcept : r_(r)
	{
	}
	constexpr operator bool() const noexcept
	{
		return r_ == 0;
	}
	constexpr bool closed() const noexcept
	{
		return r_ == -EPIPE;
	}
	constexpr bool timed_out() const noexcept
	{
		return r_ == -ETIMEDOUT;
	}

      private:
	int r_;
};

namespace impl
{

/* What a program may expect to happen is a result, all else is thrown. */
inline result outcome(int r, const char *what)
{
	if (r == -ENOMEM)
		throw std::bad_alloc();
	if (r && r != -EAGAIN && r != -EPIPE && r != -ETIMEDOUT)
		fail(r, what);
	return result(r);
}

/* Many elements: how many went in or came out, and 0 or what the last call has said. */
struct progress {
	std::size_t done = 0;
	int r = 0;

	/* Of a call that has returned a count; true: go on for more. */
	bool add(std::int64_t count, std::size_t want)
	{
		if (count < 0)
			r = static_cast<int>(count);
		else
			done += static_cast<std::size_t>(count);
		return count > 0 && static_cast<std::size_t>(count) == want;
	}
	std::size_t or_fail(const char *what) const
	{
		if (!done)
			outcome(r, what);
		return done;
	}
};

/* @Call(object, elem, deadline_ns) as a function of the first two. */
template <auto Call, class Rep, class Period>
auto timed(const std::chrono::duration<Rep, Period> &time)
{
	return [deadline_ns = deadline_in(time)](auto *object, auto *elem) {
		return Call(object, elem, deadline_ns);
	};
}

template <auto Call, class Clock, class Duration>
auto timed(const std::chrono::time_point<Clock, Duration> &end)
{
	return [end](auto *object, auto *elem) {
		return until(end, [object, elem](std::int64_t deadline_ns) {
			return Call(object, elem, deadline_ns);
		});
	};
}

/*
 * A C object with elements of type T, and their pool. C names the functions: see queue_calls in
 * queue.hpp.
 */
template <class T, class C> class carrier
{
	static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>,
		      "elements are objects that can be moved from");
	static_assert(std::is_move_constructible_v<T>, "elements are moved");

      public:
	using value_type = T;
	using native_handle_type = typename C::object *;

	native_handle_type native_handle() const noexcept
	{
		return object_.get();
	}

	/* True: this call has closed it. */
	bool close() noexcept
	{
		return C::close(native_handle()) == 0;
	}

	/* Exact while nobody else uses it; else there were at most so many at some instant. */
	std::size_t size_approx() const noexcept
	{
		std::uint64_t lo = 0, hi = 0;
		int r = C::length(native_handle(), &lo, &hi);

		return r ? 0 : static_cast<std::size_t>(hi);
	}
	std::size_t unsafe_size() const noexcept
	{
		return size_approx();
	}
	/* True: it was empty at some instant of the call. */
	bool empty() const noexcept
	{
		return size_approx() == 0;
	}

      protected:
	using store = elements<T, C::elem_max>;

	/* Completes @params. */
	explicit carrier(typename C::params params)
	{
		params.elem_size = store::elem_size;
		params.elem_fini = store::elem_fini;
		object_.reset(C::create(&params));
		if (object_)
			return;
		check(C::params_check(&params), C::name);
		throw std::bad_alloc();
	}
	carrier(carrier &&) noexcept = default;
	~carrier() = default;

	/* Elements that are left are destroyed before the pool that they live in. */
	carrier &operator=(carrier &&other) noexcept
	{
		object_ = std::move(other.object_);
		store_ = std::move(other.store_);
		return *this;
	}

	/* By @push(object, elem) and @pop(object, elem): 0 or a negative errno. */
	template <class Push, class X> int give(Push push, X &&x)
	{
		return store_.give(bound(push), std::forward<X>(x));
	}
	template <class Push, class... Args> int make(Push push, Args &&...args)
	{
		return store_.make(bound(push), std::forward<Args>(args)...);
	}
	template <class Pop> result take(Pop pop, T &dest)
	{
		auto assign = [&dest](T &&x) { dest = std::move(x); };

		return outcome(store_.take(bound(pop), assign), C::name);
	}
	template <class Pop> std::optional<T> take(Pop pop)
	{
		std::optional<T> dest;
		auto construct = [&dest](T &&x) { dest.emplace(std::move(x)); };

		outcome(store_.take(bound(pop), construct), C::name);
		return dest;
	}

	/* By @push(object, elems, n) and the like: a count or a negative errno. */
	template <class Push, class It>
	progress give_many(Push push, It first, std::size_t n)
	{
		for (progress p;;) {
			typename store::batch some(store_);
			std::size_t want = std::min(n - p.done, store::batch::max);
			std::int64_t r = want ? -ENOMEM : 0;

			for (; some.size() < want && some.add(*first); ++first)
				;
			if (some.size())
				r = push(native_handle(), some.elems(), some.size());
			if (r > 0)
				some.sent(static_cast<std::size_t>(r));
			if (!p.add(r, want))
				return p;
		}
	}
	/* The first of them by @pop, which may wait, the rest as they are there. */
	template <class Pop, class Out> progress take_many(Pop pop, Out out, std::size_t n)
	{
		for (progress p;;) {
			typename store::batch some(store_);
			std::size_t want = std::min(n - p.done, store::batch::max);
			std::int64_t r =
				p.done ? C::pop_n(native_handle(), some.elems(), want)
				       : pop(native_handle(), some.elems(), want);
			bool more = p.add(r, want);

			for (some.received(r > 0 ? static_cast<std::size_t>(r) : 0);
			     some.size(); ++out)
				some.move_out([&out](T &&x) { *out = std::move(x); });
			if (!more)
				return p;
		}
	}

	store &stored() noexcept
	{
		return store_;
	}

      private:
	template <class Call> auto bound(Call call)
	{
		return [call, object = native_handle()](auto *elem) {
			return call(object, elem);
		};
	}

	struct destroyer {
		void operator()(typename C::object *object) const noexcept
		{
			C::destroy(object);
		}
	};

	store store_;
	std::unique_ptr<typename C::object, destroyer> object_;
};

} // namespace impl
} // namespace ipcwait

#endif
