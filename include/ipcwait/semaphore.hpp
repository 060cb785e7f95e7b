/* SPDX-License-Identifier: MIT */
/*
 * <semaphore> of C++20 with the semaphore of libipcwait, from C++17 on: counting_semaphore and
 * binary_semaphore.
 *
 *	ipcwait::counting_semaphore items(0);
 *
 *	items.release();                        // one thread
 *	items.acquire();                        // another
 *
 * LeastMax is a promise of the program, as with the standard's. Beyond IPCWAIT_SEM_VALUE_MAX
 * release() throws EOVERFLOW. A signal handler ends a wait, with EINTR, only of a semaphore that
 * was made so by ipcwait_sem_init() on its native_handle().
 */
#ifndef IPCWAIT_SEMAPHORE_HPP
#define IPCWAIT_SEMAPHORE_HPP

#include <ipcwait/impl/cxx.hpp>
#include <ipcwait/sem.h>

namespace ipcwait
{

template <std::ptrdiff_t LeastMax = IPCWAIT_SEM_VALUE_MAX> class counting_semaphore
{
	static_assert(LeastMax >= 0 && LeastMax <= IPCWAIT_SEM_VALUE_MAX,
		      "ipcwait::counting_semaphore counts from 0 to IPCWAIT_SEM_VALUE_MAX");

      public:
	constexpr explicit counting_semaphore(std::ptrdiff_t value) noexcept
	    : s_(with(value, 0))
	{
	}
	constexpr counting_semaphore(std::ptrdiff_t value, private_t) noexcept
	    : s_(with(value, IPCWAIT_PRIVATE))
	{
	}
	counting_semaphore(const counting_semaphore &) = delete;
	counting_semaphore &operator=(const counting_semaphore &) = delete;

	static constexpr std::ptrdiff_t max() noexcept
	{
		return LeastMax;
	}
	void release(std::ptrdiff_t update = 1)
	{
		constexpr auto what = "ipcwait::counting_semaphore::release";

		impl::check(
			ipcwait_sem_post_n(
				&s_, impl::counted(update, IPCWAIT_SEM_VALUE_MAX, what)),
			what);
	}
	void acquire()
	{
		impl::check(ipcwait_sem_wait(&s_), "ipcwait::counting_semaphore::acquire");
	}
	bool try_acquire() noexcept
	{
		return ipcwait_sem_trywait(&s_) == 0;
	}
	template <class Rep, class Period>
	bool try_acquire_for(const std::chrono::duration<Rep, Period> &time)
	{
		return acquired(ipcwait_sem_wait_until(&s_, impl::deadline_in(time)));
	}
	template <class Clock, class Duration>
	bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &end)
	{
		return acquired(impl::until(end, [this](std::int64_t deadline_ns) {
			return ipcwait_sem_wait_until(&s_, deadline_ns);
		}));
	}

	using native_handle_type = ipcwait_sem *;
	native_handle_type native_handle() noexcept
	{
		return &s_;
	}

      private:
	/* A value that the type cannot have ends the program: nothing may be thrown here. */
	static constexpr ipcwait_sem with(std::ptrdiff_t value, unsigned flags) noexcept
	{
		ipcwait_sem s{};

		s.word.v = IPCWAIT_IMPL_SEM_VALUE_ONE *
			   impl::counted(value, IPCWAIT_SEM_VALUE_MAX,
					 "ipcwait::counting_semaphore");
		s.flags = flags;
		return s;
	}
	static bool acquired(int r)
	{
		return impl::locked(r, "ipcwait::counting_semaphore");
	}

	ipcwait_sem s_;
};

using binary_semaphore = counting_semaphore<1>;

} // namespace ipcwait

#endif
