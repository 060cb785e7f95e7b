/* SPDX-License-Identifier: MIT */
/*
 * <barrier> of C++20, from C++17 on: phases, at the end of which one of those that have arrived
 * calls a function, once, before anybody goes on.
 *
 *	ipcwait::barrier all(4, [&]() noexcept { collect_the_parts(); });
 *
 *	do_my_part();                           // in four threads
 *	all.arrive_and_wait();
 *
 * An arrival is one atomic operation; the last makes one system call if somebody sleeps. Who waits
 * sleeps on an event count, so 1023 properly at a time, and any beyond look once a millisecond.
 * More arrivals than are expected throw EOVERFLOW, and those that do not drop change nothing. A copy
 * that a child of fork(2) has counts the arrivals of the parent's threads. As with the standard's, all
 * calls must have returned before it is destroyed. It is no ipcwait_barrier, which knows no
 * arrival without a wait.
 */
#ifndef IPCWAIT_BARRIER_HPP
#define IPCWAIT_BARRIER_HPP

#include <type_traits>
#include <utility>

#include <ipcwait/eventcount.h>
#include <ipcwait/impl/cxx.hpp>
#include <ipcwait/impl/phase.h>

namespace ipcwait
{

namespace impl
{

struct no_completion {
	void operator()() noexcept
	{
	}
};

} // namespace impl

template <class CompletionFunction = impl::no_completion> class barrier
{
	static_assert(std::is_nothrow_invocable_v<CompletionFunction &>,
		      "ipcwait::barrier: the completion function must be noexcept");

      public:
	class arrival_token final
	{
	      public:
		arrival_token(arrival_token &&) noexcept = default;
		arrival_token &operator=(arrival_token &&) noexcept = default;

	      private:
		friend class barrier;
		constexpr arrival_token() noexcept = default;

		std::uint32_t phase_ = 0;
	};

	constexpr explicit barrier(std::ptrdiff_t expected,
				   CompletionFunction f = CompletionFunction())
	    : barrier(expected, std::move(f), 0)
	{
	}
	constexpr barrier(std::ptrdiff_t expected, CompletionFunction f, private_t)
	    : barrier(expected, std::move(f), IPCWAIT_PRIVATE)
	{
	}
	constexpr barrier(std::ptrdiff_t expected, private_t)
	    : barrier(expected, CompletionFunction(), IPCWAIT_PRIVATE)
	{
	}
	barrier(const barrier &) = delete;
	barrier &operator=(const barrier &) = delete;

	static constexpr std::ptrdiff_t max() noexcept
	{
		return IPCWAIT_IMPL_PHASE_MAX;
	}
	[[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1)
	{
		constexpr auto what = "ipcwait::barrier::arrive";
		std::uint32_t n = impl::counted(update, max(), what);
		arrival_token arrival;

		end(ipcwait_impl_phase_arrive(&phase_, n, &arrival.phase_), arrival, what);
		return arrival;
	}
	void wait(arrival_token &&arrival) const
	{
		for (;;) {
			std::uint64_t key = ipcwait_eventcount_prepare(&ended_);

			if (ipcwait_impl_phase_is_over(&phase_, arrival.phase_))
				return;
			impl::check(
				ipcwait_eventcount_commit(&ended_, key, IPCWAIT_FOREVER),
				"ipcwait::barrier::wait");
		}
	}
	void arrive_and_wait()
	{
		wait(arrive());
	}
	void arrive_and_drop()
	{
		arrival_token arrival;

		end(ipcwait_impl_phase_drop(&phase_, &arrival.phase_), arrival,
		    "ipcwait::barrier::arrive_and_drop");
	}

      private:
	constexpr barrier(std::ptrdiff_t expected, CompletionFunction &&f, unsigned flags)
	    : complete_(std::move(f))
	{
		phase_.expected.v = impl::counted(expected, max(), "ipcwait::barrier");
		phase_.word.v = phase_.expected.v;
		ended_.flags = flags;
	}
	/* @r is 1 for the last arriver. */
	void end(int r, const arrival_token &arrival, const char *what)
	{
		if (r < 0)
			impl::fail(r, what);
		if (r == 0)
			return;
		complete_();
		ipcwait_impl_phase_end(&phase_, arrival.phase_);
		(void)ipcwait_eventcount_notify_all(&ended_);
	}

	ipcwait_impl_phase phase_{};
	mutable ipcwait_eventcount ended_ = IPCWAIT_EVENTCOUNT_INIT;
	CompletionFunction complete_;
};

} // namespace ipcwait

#endif
