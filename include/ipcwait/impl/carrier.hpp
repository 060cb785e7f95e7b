/* SPDX-License-Identifier: MIT */
/* What the C++ classes over queues and channels share. Not API, but for ipcwait::result. */
#ifndef IPCWAIT_IMPL_CARRIER_HPP
#define IPCWAIT_IMPL_CARRIER_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cxxabi.h>
#include <iterator>
#include <memory>
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
		fail_no_memory();
	if (r && r != -EAGAIN && r != -EPIPE && r != -ETIMEDOUT)
		fail(r, what);
	return result(r);
}

/* Many elements: how many went in or came out, and 0 or what ended it. */
struct progress {
	std::size_t done = 0;
	int r = 0;

	/* What a call has returned: a count, or a negative errno. Returns the count. */
	std::size_t add(std::int64_t count)
	{
		if (count < 0)
			r = static_cast<int>(count);
		else
			done += static_cast<std::size_t>(count);
		return count < 0 ? 0 : static_cast<std::size_t>(count);
	}
	std::size_t or_fail(const char *what) const
	{
		if (!done)
			outcome(r, what);
		return done;
	}
};

/* @Call(object, ..., deadline_ns) as a function of all but the last. A batch fits into an int. */
template <auto Call> auto timed_ns(std::int64_t deadline_ns)
{
	return [deadline_ns](auto *object, auto... args) {
		return Call(object, args..., deadline_ns);
	};
}

template <auto Call, class Rep, class Period>
auto timed(const std::chrono::duration<Rep, Period> &time)
{
	return timed_ns<Call>(deadline_in(time));
}

template <auto Call, class Clock, class Duration>
auto timed(const std::chrono::time_point<Clock, Duration> &end)
{
	return [end](auto *object, auto... args) {
		return until(end, [=](std::int64_t deadline_ns) {
			return static_cast<int>(Call(object, args..., deadline_ns));
		});
	};
}

/*
 * Does @f. What it throws is kept back if @excused() says then that elements went in: their number
 * is what the caller must know. A thread that is cancelled, or exits, goes on being so; what is
 * caught then has no object, which the sanitizer takes for a null reference.
 */
template <class F, class Excused>
__attribute__((no_sanitize("null"))) bool completes(F f, Excused excused)
{
#ifdef __cpp_exceptions
	try {
		f();
		return true;
#ifdef __GLIBCXX__
	} catch (abi::__forced_unwind &) {
		throw;
#endif
	} catch (...) {
		if (!excused())
			throw;
		return false;
	}
#else
	(void)excused;
	f();
	return true;
#endif
}

template <class It> using category = typename std::iterator_traits<It>::iterator_category;

/* Whether what is read from an @It is moved out of a T that can be assigned to afterwards. */
template <class It, class T, class = void> inline constexpr bool moves_out = false;
template <class It, class T>
inline constexpr bool moves_out<It, T, std::void_t<category<It>>> =
	std::conjunction_v<std::is_same<decltype(*std::declval<It &>()), T &&>,
			   std::is_base_of<std::forward_iterator_tag, category<It>>,
			   std::is_move_assignable<T>>;

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
		fail_no_memory();
	}
	/* What was made elsewhere. */
	explicit carrier(typename C::object *made) : object_(made)
	{
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

	/*
	 * The first of @n elements by @push(object, elems, n), which returns a count or a
	 * negative errno, until that says one. What is thrown is thrown if none went in.
	 */
	template <class Push, class It>
	progress give_many(Push push, It first, std::size_t n)
	{
		progress p;

		while (p.done < n && !p.r)
			give_some(push, first, n - p.done, p);
		return p;
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
			std::size_t got = p.add(r);

			for (some.received(got); some.size(); ++out)
				some.move_out([&out](T &&x) { *out = std::move(x); });
			if (!got || got < want)
				return p;
		}
	}

	store &stored() noexcept
	{
		return store_;
	}

      private:
	/* A batch of them; @first is behind what was read. */
	template <class Push, class It>
	void give_some(Push push, It &first, std::size_t n, progress &p)
	{
		typename store::batch some(store_);
		std::size_t want = std::min(n, store::batch::max);
		std::size_t before = p.done;
		It from = first;
		bool whole = completes(
			[&] {
				while (some.size() < want && some.add(*first))
					++first;
			},
			[&] { return some.size() || p.done; });

		while (some.size() && !p.r)
			some.sent(p.add(push(native_handle(), some.elems(), some.size())));
		if (!p.r && (!whole || p.done - before < want))
			p.r = -ENOMEM;
		if constexpr (store::by_address && moves_out<It, T>)
			put_back(some, from, p.done - before, p.done);
	}
	/* What did not go in goes back to where it came from, behind those @sent. */
	template <class It>
	void put_back(typename store::batch &some, It to, std::size_t sent, bool excused)
	{
		if (!some.size())
			return;
		std::advance(to, static_cast<std::ptrdiff_t>(sent));
		completes(
			[&] {
				for (; some.size(); ++to)
					some.move_out([&to](T &&x) {
						T &&home = *to;
						home = std::move(x);
					});
			},
			[excused] { return excused; });
	}

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
