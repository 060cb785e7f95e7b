/* SPDX-License-Identifier: MIT */
/*
 * <shared_mutex> with the reader-writer lock of libipcwait: shared_mutex, and shared_timed_mutex,
 * which has deadlines. std::shared_lock and the locks of <mutex> take them.
 */
#ifndef IPCWAIT_SHARED_MUTEX_HPP
#define IPCWAIT_SHARED_MUTEX_HPP

#include <shared_mutex>

#include <ipcwait/impl/cxx.hpp>
#include <ipcwait/rwlock.h>

namespace ipcwait
{

using std::shared_lock;

class shared_mutex
{
      public:
	constexpr shared_mutex() noexcept = default;
	constexpr explicit shared_mutex(private_t) noexcept
	{
		l_.flags = IPCWAIT_PRIVATE;
	}
	shared_mutex(const shared_mutex &) = delete;
	shared_mutex &operator=(const shared_mutex &) = delete;

	void lock()
	{
		impl::check(ipcwait_rwlock_wrlock(&l_), "ipcwait::shared_mutex::lock");
	}
	bool try_lock()
	{
		return impl::locked(ipcwait_rwlock_trywrlock(&l_),
				    "ipcwait::shared_mutex::try_lock");
	}
	void unlock()
	{
		impl::check(ipcwait_rwlock_wrunlock(&l_), "ipcwait::shared_mutex::unlock");
	}
	void lock_shared()
	{
		impl::check(ipcwait_rwlock_rdlock(&l_),
			    "ipcwait::shared_mutex::lock_shared");
	}
	bool try_lock_shared()
	{
		return impl::locked(ipcwait_rwlock_tryrdlock(&l_),
				    "ipcwait::shared_mutex::try_lock_shared");
	}
	void unlock_shared()
	{
		impl::check(ipcwait_rwlock_rdunlock(&l_),
			    "ipcwait::shared_mutex::unlock_shared");
	}

	using native_handle_type = ipcwait_rwlock *;
	native_handle_type native_handle() noexcept
	{
		return &l_;
	}

      private:
	ipcwait_rwlock l_ = IPCWAIT_RWLOCK_INIT;
};

class shared_timed_mutex : public shared_mutex
{
      public:
	using shared_mutex::shared_mutex;

	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
	{
		return locked(writing(impl::deadline_in(time)));
	}
	template <class Clock, class Duration>
	bool try_lock_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return locked(
			impl::until(end, [this](std::int64_t ns) { return writing(ns); }));
	}
	template <class Rep, class Period>
	bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &time)
	{
		return locked(reading(impl::deadline_in(time)));
	}
	template <class Clock, class Duration>
	bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return locked(
			impl::until(end, [this](std::int64_t ns) { return reading(ns); }));
	}

      private:
	int writing(std::int64_t deadline_ns)
	{
		return ipcwait_rwlock_wrlock_until(native_handle(), deadline_ns);
	}
	int reading(std::int64_t deadline_ns)
	{
		return ipcwait_rwlock_rdlock_until(native_handle(), deadline_ns);
	}
	static bool locked(int r)
	{
		return impl::locked(r, "ipcwait::shared_timed_mutex");
	}
};

} // namespace ipcwait

#endif
