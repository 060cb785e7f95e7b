/* SPDX-License-Identifier: MIT */
/*
 * libipcwait for C++17: the objects with the members that the standard library's have, so that
 * std::unique_lock, std::scoped_lock, std::shared_lock and std::condition_variable_any take them.
 *
 *	ipcwait::mutex lock;
 *	ipcwait::condition_variable ready;
 *
 *	std::unique_lock guard(lock);
 *	ready.wait(guard, [&] { return !jobs.empty(); });
 *
 * Each class holds one C object, allocates nothing, and may be constant-initialised, and placed in
 * memory that processes share, unless it is a mutex made with private_; ipcwait_..._init() on
 * native_handle(), the C object, makes the others private. Destructors do not end the object, which
 * owns nothing, and in shared memory may outlive the process; but that of condition_variable does: as
 * with the standard's it may be destroyed when all who wait have been notified, unless one of them
 * is kept from running for a second.
 *
 * Errors are std::system_error with the errno value in std::generic_category(). Deadlines of
 * clocks other than CLOCK_MONOTONIC (std::chrono::steady_clock on Linux) are converted when the
 * wait begins, and the clock is asked again at the end.
 */
#ifndef IPCWAIT_IPCWAIT_HPP
#define IPCWAIT_IPCWAIT_HPP

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <ipcwait/impl/cxx.hpp>
#include <ipcwait/ipcwait.h>

namespace ipcwait
{

/* Of one process: sleeping is a little cheaper. */
struct private_t {
	explicit private_t() = default;
};
inline constexpr private_t private_{};

namespace impl
{

template <class Wait> void uninterrupted(Wait wait, const char *what)
{
	int r;

	do
		r = wait();
	while (r == -EINTR);
	check(r, what);
}

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
	bool try_lock()
	{
		return locked(ipcwait_mutex_trylock(&m_));
	}
	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
	{
		return locked(ipcwait_mutex_lock_until(&m_, deadline_in(time)));
	}
	template <class Clock, class Duration>
	bool try_lock_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return locked(until(end, [this](auto ns) {
			return ipcwait_mutex_lock_until(&m_, ns);
		}));
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
	static bool locked(int r)
	{
		if (r == -EBUSY || r == -ETIMEDOUT || r == -EAGAIN)
			return false;
		check(r, "ipcwait::mutex");
		return true;
	}

	ipcwait_mutex m_;
};

} // namespace impl

/* Lockable and TimedLockable: also std::timed_mutex, and std::recursive_timed_mutex. */
using mutex = impl::basic_mutex<0>;
using recursive_mutex = impl::basic_mutex<IPCWAIT_RECURSIVE>;
using errorcheck_mutex = impl::basic_mutex<IPCWAIT_ERRORCHECK>;

/*
 * For mutexes of this header, with any std::unique_lock of one. With other locks use
 * std::condition_variable_any, which takes these mutexes too.
 */
class condition_variable
{
      public:
	constexpr condition_variable() noexcept = default;
	condition_variable(const condition_variable &) = delete;
	condition_variable &operator=(const condition_variable &) = delete;
	/*
	 * Waits until those who were notified have let go of it, for a second at most:
	 * ipcwait_cond_fini().
	 */
	~condition_variable()
	{
		(void)ipcwait_cond_fini(&c_);
	}

	void notify_one() noexcept
	{
		(void)ipcwait_cond_signal(&c_);
	}
	void notify_all() noexcept
	{
		(void)ipcwait_cond_broadcast(&c_);
	}

	template <class Mutex> void wait(std::unique_lock<Mutex> &lock)
	{
		impl::check(ipcwait_cond_wait(&c_, lock.mutex()->native_handle()),
			    "ipcwait::condition_variable::wait");
	}
	template <class Mutex, class Predicate>
	void wait(std::unique_lock<Mutex> &lock, Predicate done)
	{
		while (!done())
			wait(lock);
	}
	template <class Mutex, class Clock, class Duration>
	std::cv_status wait_until(std::unique_lock<Mutex> &lock,
				  const std::chrono::time_point<Clock, Duration> &end)
	{
		int r = ipcwait_cond_wait_until(&c_, lock.mutex()->native_handle(),
						impl::deadline_at(end));

		if (r != -ETIMEDOUT)
			impl::check(r, "ipcwait::condition_variable::wait_until");
		return r && Clock::now() >= end ? std::cv_status::timeout
						: std::cv_status::no_timeout;
	}
	template <class Mutex, class Clock, class Duration, class Predicate>
	bool wait_until(std::unique_lock<Mutex> &lock,
			const std::chrono::time_point<Clock, Duration> &end, Predicate done)
	{
		while (!done())
			if (wait_until(lock, end) == std::cv_status::timeout)
				return done();
		return true;
	}
	template <class Mutex, class Rep, class Period>
	std::cv_status wait_for(std::unique_lock<Mutex> &lock,
				const std::chrono::duration<Rep, Period> &time)
	{
		int r = ipcwait_cond_wait_until(&c_, lock.mutex()->native_handle(),
						impl::deadline_in(time));

		if (r != -ETIMEDOUT)
			impl::check(r, "ipcwait::condition_variable::wait_for");
		return r ? std::cv_status::timeout : std::cv_status::no_timeout;
	}
	template <class Mutex, class Rep, class Period, class Predicate>
	bool wait_for(std::unique_lock<Mutex> &lock,
		      const std::chrono::duration<Rep, Period> &time, Predicate done)
	{
		std::int64_t deadline_ns = impl::deadline_in(time);

		while (!done()) {
			int r = ipcwait_cond_wait_until(&c_, lock.mutex()->native_handle(),
							deadline_ns);
			if (r == -ETIMEDOUT)
				return done();
			impl::check(r, "ipcwait::condition_variable::wait_for");
		}
		return true;
	}

	using native_handle_type = ipcwait_cond *;
	native_handle_type native_handle() noexcept
	{
		return &c_;
	}

      private:
	ipcwait_cond c_ = IPCWAIT_COND_INIT;
};

/* SharedTimedMutex, as std::shared_timed_mutex. */
class shared_mutex
{
      public:
	constexpr shared_mutex() noexcept = default;
	shared_mutex(const shared_mutex &) = delete;
	shared_mutex &operator=(const shared_mutex &) = delete;

	void lock()
	{
		impl::check(ipcwait_rwlock_wrlock(&l_), "ipcwait::shared_mutex::lock");
	}
	bool try_lock()
	{
		return locked(ipcwait_rwlock_trywrlock(&l_));
	}
	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
	{
		return locked(ipcwait_rwlock_wrlock_until(&l_, impl::deadline_in(time)));
	}
	template <class Clock, class Duration>
	bool try_lock_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return locked(impl::until(end, [this](auto ns) {
			return ipcwait_rwlock_wrlock_until(&l_, ns);
		}));
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
		return locked(ipcwait_rwlock_tryrdlock(&l_));
	}
	template <class Rep, class Period>
	bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &time)
	{
		return locked(ipcwait_rwlock_rdlock_until(&l_, impl::deadline_in(time)));
	}
	template <class Clock, class Duration>
	bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return locked(impl::until(end, [this](auto ns) {
			return ipcwait_rwlock_rdlock_until(&l_, ns);
		}));
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
	static bool locked(int r)
	{
		if (r == -EBUSY || r == -ETIMEDOUT || r == -EAGAIN)
			return false;
		impl::check(r, "ipcwait::shared_mutex");
		return true;
	}

	ipcwait_rwlock l_ = IPCWAIT_RWLOCK_INIT;
};

/* As std::counting_semaphore of C++20. A signal handler does not end a wait. */
class counting_semaphore
{
      public:
	constexpr explicit counting_semaphore(std::uint32_t value = 0) noexcept
	    : s_ IPCWAIT_SEM_INIT(value)
	{
	}
	counting_semaphore(const counting_semaphore &) = delete;
	counting_semaphore &operator=(const counting_semaphore &) = delete;

	static constexpr std::ptrdiff_t max() noexcept
	{
		return IPCWAIT_SEM_VALUE_MAX;
	}
	void release(std::uint32_t n = 1)
	{
		impl::check(ipcwait_sem_post_n(&s_, n),
			    "ipcwait::counting_semaphore::release");
	}
	void acquire()
	{
		impl::uninterrupted([this] { return ipcwait_sem_wait(&s_); },
				    "ipcwait::counting_semaphore::acquire");
	}
	bool try_acquire() noexcept
	{
		return ipcwait_sem_trywait(&s_) == 0;
	}
	template <class Rep, class Period>
	bool try_acquire_for(const std::chrono::duration<Rep, Period> &time)
	{
		return acquired(until_ns(impl::deadline_in(time)));
	}
	template <class Clock, class Duration>
	bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return acquired(impl::until(end, [this](auto ns) { return until_ns(ns); }));
	}

	using native_handle_type = ipcwait_sem *;
	native_handle_type native_handle() noexcept
	{
		return &s_;
	}

      private:
	int until_ns(std::int64_t deadline_ns)
	{
		int r;

		do
			r = ipcwait_sem_wait_until(&s_, deadline_ns);
		while (r == -EINTR);
		return r;
	}
	static bool acquired(int r)
	{
		if (r == -ETIMEDOUT)
			return false;
		impl::check(r, "ipcwait::counting_semaphore");
		return true;
	}

	ipcwait_sem s_;
};

} // namespace ipcwait

#endif
