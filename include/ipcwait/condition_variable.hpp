/* SPDX-License-Identifier: MIT */
/*
 * <condition_variable> with those of libipcwait: condition_variable for a std::unique_lock of
 * ipcwait::mutex, condition_variable_any for every other lock, and for waits that a std::stop_token
 * ends; and notify_all_at_thread_exit().
 *
 *	ipcwait::mutex lock;
 *	ipcwait::condition_variable ready;
 *
 *	ipcwait::unique_lock guard(lock);
 *	ready.wait(guard, [&] { return !jobs.empty(); });
 *
 * As with the standard's they may be destroyed as soon as all who wait have been notified, though
 * these have not returned. The destructor waits until they are out, which takes no lock. Of a
 * condition_variable that is not private_, and of any condition_variable_any, it does so for a
 * second at most: then they are stopped, or were killed, or are those of the parent, in a copy that
 * fork(2) made. No signal handler ends a wait.
 *
 * By a clock that may be set, such as std::chrono::system_clock, wait_until() without a predicate
 * returns no_timeout every 100 ms: spuriously, as any wait may.
 */
#ifndef IPCWAIT_CONDITION_VARIABLE_HPP
#define IPCWAIT_CONDITION_VARIABLE_HPP

#include <condition_variable>
#include <exception>
#include <mutex>
#include <type_traits>
#include <utility>
#if __has_include(<stop_token>)
#include <stop_token>
#endif

#include <ipcwait/cond.h>
#include <ipcwait/eventcount.h>
#include <ipcwait/impl/cxx.hpp>
#include <ipcwait/impl/thread_exit.hpp>
#include <ipcwait/mutex.hpp>
#include <ipcwait/rwlock.h>

namespace ipcwait
{

using std::cv_status;

namespace impl
{

template <class Lock, class Own>
using foreign = std::enable_if_t<!std::is_convertible_v<Lock &, Own &>, int>;

/* Whether a wait that returned @r because of its deadline is over by the clock of @end too. */
template <class Clock, class Duration>
cv_status status(int r, const std::chrono::time_point<Clock, Duration> &end)
{
	return r && Clock::now() >= end ? cv_status::timeout : cv_status::no_timeout;
}

/* As the standard says: an error after which the lock may not be held ends the program. */
inline void check_locked(int r, const char *what)
{
	if (r && r != -EINVAL && r != -EPERM && r != -EOWNERDEAD)
		std::terminate();
	check(r, what);
}

/* @wait() until @done() or a timeout. */
template <class Predicate, class Wait> bool wait_for(Predicate &done, Wait wait)
{
	while (!done())
		if (wait() == cv_status::timeout)
			return done();
	return true;
}

} // namespace impl

class condition_variable
{
      public:
	constexpr condition_variable() noexcept = default;
	constexpr explicit condition_variable(private_t) noexcept
	{
		c_.flags = IPCWAIT_PRIVATE;
	}
	condition_variable(const condition_variable &) = delete;
	condition_variable &operator=(const condition_variable &) = delete;
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

	void wait(unique_lock<mutex> &lock)
	{
		impl::check_locked(ipcwait_cond_wait(&c_, lock.mutex()->native_handle()),
				   "ipcwait::condition_variable::wait");
	}
	template <class Predicate> void wait(unique_lock<mutex> &lock, Predicate done)
	{
		while (!done())
			wait(lock);
	}
	template <class Clock, class Duration>
	cv_status wait_until(unique_lock<mutex> &lock,
			     const std::chrono::time_point<Clock, Duration> &end)
	{
		return impl::status(wait_ns(lock, impl::deadline_at(end)), end);
	}
	template <class Clock, class Duration, class Predicate>
	bool wait_until(unique_lock<mutex> &lock,
			const std::chrono::time_point<Clock, Duration> &end, Predicate done)
	{
		return impl::wait_for(done, [&] { return wait_until(lock, end); });
	}
	template <class Rep, class Period>
	cv_status wait_for(unique_lock<mutex> &lock,
			   const std::chrono::duration<Rep, Period> &time)
	{
		return wait_ns(lock, impl::deadline_in(time)) ? cv_status::timeout
							      : cv_status::no_timeout;
	}
	template <class Rep, class Period, class Predicate>
	bool wait_for(unique_lock<mutex> &lock,
		      const std::chrono::duration<Rep, Period> &time, Predicate done)
	{
		std::int64_t deadline_ns = impl::deadline_in(time);

		return impl::wait_for(done, [&] {
			return wait_ns(lock, deadline_ns) ? cv_status::timeout
							  : cv_status::no_timeout;
		});
	}

	/* What is another lock is told so, and not that there is no such function. */
	template <class Lock, class... Rest, impl::foreign<Lock, unique_lock<mutex>> = 0>
	void wait(Lock &, Rest &&...)
	{
		refuse<Lock>();
	}
	template <class Lock, class... Rest, impl::foreign<Lock, unique_lock<mutex>> = 0>
	cv_status wait_until(Lock &, Rest &&...)
	{
		return refuse<Lock>();
	}
	template <class Lock, class... Rest, impl::foreign<Lock, unique_lock<mutex>> = 0>
	cv_status wait_for(Lock &, Rest &&...)
	{
		return refuse<Lock>();
	}

	using native_handle_type = ipcwait_cond *;
	native_handle_type native_handle() noexcept
	{
		return &c_;
	}

      private:
	template <class Lock> static cv_status refuse()
	{
		static_assert(std::is_convertible_v<Lock &, unique_lock<mutex> &>,
			      "ipcwait::condition_variable takes "
			      "std::unique_lock<ipcwait::mutex>; "
			      "use condition_variable_any");
		return cv_status::timeout;
	}
	/* 0 or -ETIMEDOUT */
	int wait_ns(unique_lock<mutex> &lock, std::int64_t deadline_ns)
	{
		int r = ipcwait_cond_wait_until(&c_, lock.mutex()->native_handle(),
						deadline_ns);

		if (r != -ETIMEDOUT)
			impl::check_locked(r, "ipcwait::condition_variable");
		return r;
	}

	ipcwait_cond c_ = IPCWAIT_COND_INIT;
};

/*
 * An event count, which takes any lock. Those inside read-lock a lock of their own, until they use
 * the event count no more: the destructor waits for that.
 */
class condition_variable_any
{
      public:
	constexpr condition_variable_any() noexcept = default;
	constexpr explicit condition_variable_any(private_t) noexcept
	{
		changed_.flags = IPCWAIT_PRIVATE;
		inside_.flags = IPCWAIT_PRIVATE;
	}
	condition_variable_any(const condition_variable_any &) = delete;
	condition_variable_any &operator=(const condition_variable_any &) = delete;
	~condition_variable_any()
	{
		if (ipcwait_rwlock_wrlock_until(
			    &inside_, impl::deadline_in(std::chrono::seconds(1))) == 0) {
			(void)ipcwait_rwlock_wrunlock(&inside_);
			(void)ipcwait_rwlock_fini(&inside_);
		}
	}

	void notify_one() noexcept
	{
		(void)ipcwait_eventcount_notify(&changed_, 1);
	}
	void notify_all() noexcept
	{
		(void)ipcwait_eventcount_notify_all(&changed_);
	}

	template <class Lock> void wait(Lock &lock)
	{
		(void)wait_ns(lock, IPCWAIT_FOREVER, unstoppable());
	}
	template <class Lock, class Predicate> void wait(Lock &lock, Predicate done)
	{
		while (!done())
			wait(lock);
	}
	template <class Lock, class Clock, class Duration>
	cv_status wait_until(Lock &lock,
			     const std::chrono::time_point<Clock, Duration> &end)
	{
		return wait_at(lock, end, unstoppable());
	}
	template <class Lock, class Clock, class Duration, class Predicate>
	bool wait_until(Lock &lock, const std::chrono::time_point<Clock, Duration> &end,
			Predicate done)
	{
		return impl::wait_for(done, [&] { return wait_until(lock, end); });
	}
	template <class Lock, class Rep, class Period>
	cv_status wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &time)
	{
		return wait_in(lock, impl::deadline_in(time), unstoppable());
	}
	template <class Lock, class Rep, class Period, class Predicate>
	bool wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &time,
		      Predicate done)
	{
		std::int64_t deadline_ns = impl::deadline_in(time);

		return impl::wait_for(
			done, [&] { return wait_in(lock, deadline_ns, unstoppable()); });
	}

#ifdef __cpp_lib_jthread
	/* True if @done(), false if a stop was requested, or the time has passed, before. */
	template <class Lock, class Predicate>
	bool wait(Lock &lock, std::stop_token stop, Predicate done)
	{
		return stoppable(stop, done, [&](const auto &stopped) {
			(void)wait_ns(lock, IPCWAIT_FOREVER, stopped);
			return cv_status::no_timeout;
		});
	}
	template <class Lock, class Clock, class Duration, class Predicate>
	bool wait_until(Lock &lock, std::stop_token stop,
			const std::chrono::time_point<Clock, Duration> &end, Predicate done)
	{
		return stoppable(stop, done, [&](const auto &stopped) {
			return wait_at(lock, end, stopped);
		});
	}
	template <class Lock, class Rep, class Period, class Predicate>
	bool wait_for(Lock &lock, std::stop_token stop,
		      const std::chrono::duration<Rep, Period> &time, Predicate done)
	{
		std::int64_t deadline_ns = impl::deadline_in(time);

		return stoppable(stop, done, [&](const auto &stopped) {
			return wait_in(lock, deadline_ns, stopped);
		});
	}
#endif

      private:
	/* Locks again at the end, however the wait has ended; if that fails the program ends. */
	template <class Lock> struct unlocked {
		Lock &lock;
		bool is = false;

		~unlocked()
		{
			if (is)
				lock.lock();
		}
	};
	struct reading {
		ipcwait_rwlock *inside;

		explicit reading(ipcwait_rwlock *l) : inside(l)
		{
			impl::check(ipcwait_rwlock_rdlock(l),
				    "ipcwait::condition_variable_any");
		}
		reading(const reading &) = delete;
		reading &operator=(const reading &) = delete;
		~reading()
		{
			(void)ipcwait_rwlock_rdunlock(inside);
		}
	};

	/* What may stop a wait, and how it is told that. */
	struct unstoppable {
		bool requested() const
		{
			return false;
		}
		int tell(condition_variable_any &) const
		{
			return 0;
		}
	};
#ifdef __cpp_lib_jthread
	struct on_request {
		const std::stop_token &token;

		bool requested() const
		{
			return token.stop_requested();
		}
		auto tell(condition_variable_any &c) const
		{
			return std::stop_callback(token, [&c] { c.notify_all(); });
		}
	};
#endif

	/*
	 * 0 or -ETIMEDOUT. Does not wait if @stop was requested before it could be told. It is told
	 * only while it is inside, for which the destructor waits.
	 */
	template <class Lock, class Stop>
	int wait_ns(Lock &lock, std::int64_t deadline_ns, const Stop &stop)
	{
		unlocked<Lock> outside{ lock };
		reading here(&inside_);
		std::uint64_t key = ipcwait_eventcount_prepare(&changed_);
		[[maybe_unused]] auto told = stop.tell(*this);
		int r;

		if (stop.requested())
			return 0;
		lock.unlock();
		outside.is = true;
		r = ipcwait_eventcount_commit(&changed_, key, deadline_ns);
		if (r != -ETIMEDOUT)
			impl::check(r, "ipcwait::condition_variable_any");
		return r;
	}
	template <class Lock, class Stop>
	cv_status wait_in(Lock &lock, std::int64_t deadline_ns, const Stop &stop)
	{
		return wait_ns(lock, deadline_ns, stop) ? cv_status::timeout
							: cv_status::no_timeout;
	}
	template <class Lock, class Clock, class Duration, class Stop>
	cv_status wait_at(Lock &lock, const std::chrono::time_point<Clock, Duration> &end,
			  const Stop &stop)
	{
		return impl::status(wait_ns(lock, impl::deadline_at(end), stop), end);
	}
#ifdef __cpp_lib_jthread
	template <class Predicate, class Wait>
	bool stoppable(const std::stop_token &stop, Predicate &done, Wait wait)
	{
		on_request stopped{ stop };

		while (!stopped.requested()) {
			if (done())
				return true;
			if (wait(stopped) == cv_status::timeout)
				break;
		}
		return done();
	}
#endif

	ipcwait_eventcount changed_ = IPCWAIT_EVENTCOUNT_INIT;
	ipcwait_rwlock inside_ = IPCWAIT_RWLOCK_INIT;
};

/*
 * When the calling thread has ended, after the destructors of its thread_local objects, @guard is
 * unlocked, and @c was notified. As with the standard's both must live until then. Allocates.
 */
inline void notify_all_at_thread_exit(condition_variable &c, unique_lock<mutex> guard)
{
	struct notice : impl::exit_notice {
		condition_variable &c;
		unique_lock<mutex> guard;

		notice(condition_variable &what, unique_lock<mutex> &&held)
		    : c(what), guard(std::move(held))
		{
		}
		/* In this order: whoever has got the mutex may destroy both. */
		~notice() override
		{
			c.notify_all();
			guard.unlock();
		}
	};

	impl::exit_notices::of_process().add(std::make_unique<notice>(c, std::move(guard)));
}

} // namespace ipcwait

#endif
