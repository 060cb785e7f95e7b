/* SPDX-License-Identifier: MIT */
/*
 * <latch> of C++20 with the latch of libipcwait, from C++17 on. May be destroyed as soon as each
 * wait has returned, though a count_down() has not. Counted down by too much it throws EOVERFLOW
 * and stays as it is.
 */
#ifndef IPCWAIT_LATCH_HPP
#define IPCWAIT_LATCH_HPP

#include <ipcwait/impl/cxx.hpp>
#include <ipcwait/latch.h>

namespace ipcwait
{

class latch
{
      public:
	constexpr explicit latch(std::ptrdiff_t expected) noexcept : l_(with(expected, 0))
	{
	}
	constexpr latch(std::ptrdiff_t expected, private_t) noexcept
	    : l_(with(expected, IPCWAIT_PRIVATE))
	{
	}
	latch(const latch &) = delete;
	latch &operator=(const latch &) = delete;

	static constexpr std::ptrdiff_t max() noexcept
	{
		return IPCWAIT_LATCH_COUNT_MAX;
	}
	void count_down(std::ptrdiff_t update = 1)
	{
		constexpr auto what = "ipcwait::latch::count_down";

		impl::check(
			ipcwait_latch_count_down(&l_, impl::counted(update, max(), what)),
			what);
	}
	bool try_wait() const noexcept
	{
		return ipcwait_latch_trywait(&l_) == 0;
	}
	void wait() const
	{
		impl::check(ipcwait_latch_wait(&l_), "ipcwait::latch::wait");
	}
	void arrive_and_wait(std::ptrdiff_t update = 1)
	{
		count_down(update);
		wait();
	}

	using native_handle_type = ipcwait_latch *;
	native_handle_type native_handle() noexcept
	{
		return &l_;
	}

      private:
	/* As that of counting_semaphore. */
	static constexpr ipcwait_latch with(std::ptrdiff_t expected,
					    unsigned flags) noexcept
	{
		ipcwait_latch l{};

		l.word.v = IPCWAIT_IMPL_LATCH_COUNT_ONE *
			   impl::counted(expected, max(), "ipcwait::latch");
		l.flags = flags;
		return l;
	}

	mutable ipcwait_latch l_;
};

} // namespace ipcwait

#endif
