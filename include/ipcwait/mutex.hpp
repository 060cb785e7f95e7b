/* SPDX-License-Identifier: MIT */
/*
 * <mutex> with the mutexes of libipcwait: mutex, timed_mutex, recursive_mutex,
 * recursive_timed_mutex, once_flag and call_once. std::unique_lock, std::scoped_lock and the other
 * locks of the standard take them, and are found here too.
 *
 *	ipcwait::mutex lock;
 *
 *	ipcwait::scoped_lock guard(lock);
 *
 * errorcheck_mutex is a timed_mutex that throws EDEADLK to its owner. A mutex that is robust, by
 * ipcwait_mutex_init() on its native_handle(), throws EOWNERDEAD to whoever owns it then; where the
 * standard has noexcept, as with try_lock() of the recursive ones, that ends the program.
 */
#ifndef IPCWAIT_MUTEX_HPP
#define IPCWAIT_MUTEX_HPP

#include <functional>
#include <mutex>
#include <utility>

#include <ipcwait/impl/cxx.hpp>
#include <ipcwait/mutex.h>
#include <ipcwait/once.h>

namespace ipcwait
{

using std::adopt_lock;
using std::adopt_lock_t;
using std::defer_lock;
using std::defer_lock_t;
using std::lock;
using std::lock_guard;
using std::scoped_lock;
using std::try_lock;
using std::try_to_lock;
using std::try_to_lock_t;
using std::unique_lock;

namespace impl
{

template <unsigned Flags> class basic_mutex
{
      public:
	constexpr basic_mutex() noexcept : m_(initial(Flags))
	{
	}
	constexpr explicit basic_mutex(private_t) noexcept
	    : m_(initial(Flags | IPCWAIT_PRIVATE))
	{
	}
	basic_mutex(const basic_mutex &) = delete;
	basic_mutex &operator=(const basic_mutex &) = delete;

	void lock()
	{
		check(ipcwait_mutex_lock(&m_), "ipcwait::mutex::lock");
	}
	/* The standard's recursive mutexes throw nothing here. */
	bool try_lock() noexcept(Flags == IPCWAIT_RECURSIVE)
	{
		return locked(ipcwait_mutex_trylock(&m_), "ipcwait::mutex::try_lock");
	}
	void unlock()
	{
		check(ipcwait_mutex_unlock(&m_), "ipcwait::mutex::unlock");
	}

	using native_handle_type = ipcwait_mutex *;
	native_handle_type native_handle() noexcept
	{
		return &m_;
	}

      private:
	static constexpr ipcwait_mutex initial(unsigned flags) noexcept
	{
		ipcwait_mutex m = IPCWAIT_MUTEX_INIT;

		m.flags = static_cast<std::uint16_t>(flags);
		m.word.v = flags & ~IPCWAIT_PRIVATE ? IPCWAIT_IMPL_MUTEX_CHECKED : 0;
		return m;
	}

	ipcwait_mutex m_;
};

template <unsigned Flags> class basic_timed_mutex : public basic_mutex<Flags>
{
      public:
	using basic_mutex<Flags>::basic_mutex;

	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
	{
		return locked(
			ipcwait_mutex_lock_until(this->native_handle(), deadline_in(time)),
			"ipcwait::timed_mutex::try_lock_for");
	}
	template <class Clock, class Duration>
	bool try_lock_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return locked(until(end,
				    [this](std::int64_t deadline_ns) {
					    return ipcwait_mutex_lock_until(
						    this->native_handle(), deadline_ns);
				    }),
			      "ipcwait::timed_mutex::try_lock_until");
	}
};

} // namespace impl

using mutex = impl::basic_mutex<0>;
using timed_mutex = impl::basic_timed_mutex<0>;
using recursive_mutex = impl::basic_mutex<IPCWAIT_RECURSIVE>;
using recursive_timed_mutex = impl::basic_timed_mutex<IPCWAIT_RECURSIVE>;
using errorcheck_mutex = impl::basic_timed_mutex<IPCWAIT_ERRORCHECK>;

class once_flag
{
      public:
	constexpr once_flag() noexcept = default;
	once_flag(const once_flag &) = delete;
	once_flag &operator=(const once_flag &) = delete;

	using native_handle_type = ipcwait_once *;
	native_handle_type native_handle() noexcept
	{
		return &o_;
	}

      private:
	ipcwait_once o_ = IPCWAIT_ONCE_INIT;
};

/*
 * What @f throws goes to its caller, and leaves @flag open. Called again from inside @f it throws
 * EDEADLK.
 */
template <class Callable, class... Args>
void call_once(once_flag &flag, Callable &&f, Args &&...args)
{
	auto call = [&] {
		(void)std::invoke(std::forward<Callable>(f), std::forward<Args>(args)...);
	};
	auto run = [](void *arg) {
		(*static_cast<decltype(call) *>(arg))();
		return 0;
	};

	impl::check(ipcwait_once_run(flag.native_handle(), run, &call),
		    "ipcwait::call_once");
}

} // namespace ipcwait

#endif
