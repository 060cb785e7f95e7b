/* SPDX-License-Identifier: MIT */
/* What the C++ headers have in common: errors, numbers and deadlines. Not API but for private_. */
#ifndef IPCWAIT_IMPL_CXX_HPP
#define IPCWAIT_IMPL_CXX_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <system_error>
#include <type_traits>

#include <ipcwait/base.h>

namespace ipcwait
{

/* Of one process: sleeping is a little cheaper. */
struct private_t {
	explicit private_t() = default;
};
inline constexpr private_t private_{};

namespace impl
{

[[noreturn]] inline void fail(int r, const char *what)
{
#ifdef __cpp_exceptions
	throw std::system_error(-r, std::generic_category(), what);
#else
	(void)r;
	(void)what;
	std::abort();
#endif
}

[[noreturn]] inline void fail_no_memory()
{
#ifdef __cpp_exceptions
	throw std::bad_alloc();
#else
	std::abort();
#endif
}

inline void check(int r, const char *what)
{
	if (__builtin_expect(r != 0, 0))
		fail(r, what);
}

/* Whether a lock was had that need not be. */
inline bool locked(int r, const char *what)
{
	if (r == -EBUSY || r == -ETIMEDOUT || r == -EAGAIN)
		return false;
	check(r, what);
	return true;
}

/* A count that the standard does not let be negative, nor above @max. */
constexpr std::uint32_t counted(std::ptrdiff_t n, std::ptrdiff_t max, const char *what)
{
	if (n < 0 || n > max)
		fail(n < 0 ? -EINVAL : -EOVERFLOW, what);
	return static_cast<std::uint32_t>(n);
}

/* An overflow of the sum means for ever. */
template <class Rep, class Period>
std::int64_t deadline_in(const std::chrono::duration<Rep, Period> &time)
{
	using ns = std::chrono::duration<double, std::nano>;

	if (!(time > time.zero()))
		return 0;
	if (ns(time).count() >= 9.2e18)
		return IPCWAIT_FOREVER;
	return ipcwait_deadline_in_ns(
		std::chrono::ceil<std::chrono::nanoseconds>(time).count());
}

/*
 * A clock that may be set is asked again so often: a step of it is noticed so late, at a cost of
 * ten looks a second for each who waits by such a clock.
 */
inline constexpr std::chrono::milliseconds until_asked_again{ 100 };

/* Whether T has what the standard requires of a clock, as std::chrono::is_clock_v of C++20. */
template <class T, class = void> inline constexpr bool is_clock = false;
template <class T>
inline constexpr bool is_clock<T, std::void_t<typename T::rep, typename T::period,
					      typename T::duration, typename T::time_point,
					      decltype(T::is_steady), decltype(T::now())>> =
	true;

/*
 * When a wait until @end has to ask @Clock again, which may have been set: what has expired on
 * ours has expired only if that clock says so too.
 */
template <class Clock, class Duration>
std::int64_t deadline_at(const std::chrono::time_point<Clock, Duration> &end)
{
	static_assert(__cplusplus <= 201703L || is_clock<Clock>,
		      "ipcwait: the time is not of a clock");
	using seconds = std::chrono::duration<double>;
	auto now = Clock::now();
	auto left = seconds(end.time_since_epoch()) - seconds(now.time_since_epoch());

	/* Only what is neither past nor for ever has a difference that fits. */
	if (!(left > left.zero()))
		return 0;
	if (left.count() >= 9.2e9)
		return IPCWAIT_FOREVER;
	if (!Clock::is_steady && left > until_asked_again)
		return deadline_in(until_asked_again);
	return deadline_in(end - now);
}

/* @wait(deadline_ns) until @end. */
template <class Clock, class Duration, class Wait>
int until(const std::chrono::time_point<Clock, Duration> &end, Wait wait)
{
	for (;;) {
		int r = wait(deadline_at(end));

		if (r != -ETIMEDOUT || Clock::now() >= end)
			return r;
	}
}

} // namespace impl
} // namespace ipcwait

#endif
