/* SPDX-License-Identifier: MIT */
/*
 * Each CASE is refused, with a message that has what stands beside it; one "from" a standard is
 * accepted before that. Without any there is no warning.
 */
#include <ipcwait/channel.hpp>
#include <ipcwait/ipcwait.hpp>

template <class Lock> void wait(Lock &lock)
{
	ipcwait::condition_variable c;
	ipcwait::condition_variable_any any;
	const auto second = std::chrono::seconds(1);
	const auto now = std::chrono::system_clock::now();
	auto done = [] { return true; };

	any.wait(lock, done);
	(void)any.wait_for(lock, second);
#if CASE == 1 /* takes std::unique_lock<ipcwait::mutex>; use condition_variable_any */
	c.wait(lock);
#elif CASE == 2 /* takes std::unique_lock<ipcwait::mutex>; use condition_variable_any */
	c.wait(lock, done);
#elif CASE == 3 /* takes std::unique_lock<ipcwait::mutex>; use condition_variable_any */
	(void)c.wait_for(lock, second);
#elif CASE == 4 /* takes std::unique_lock<ipcwait::mutex>; use condition_variable_any */
	(void)c.wait_for(lock, second, done);
#elif CASE == 5 /* takes std::unique_lock<ipcwait::mutex>; use condition_variable_any */
	(void)c.wait_until(lock, now);
#elif CASE == 6 /* takes std::unique_lock<ipcwait::mutex>; use condition_variable_any */
	(void)c.wait_until(lock, now, done);
#endif
	(void)now;
}

void use()
{
	std::mutex foreign;
	ipcwait::timed_mutex timed;
	ipcwait::shared_mutex shared;
	std::unique_lock lock(foreign);
	std::unique_lock other(timed);
	std::shared_lock reading(shared);
	ipcwait::barrier<> all(1);

	wait(lock);
	wait(other);
	wait(reading);
#if CASE == 7 /* the completion function must be noexcept */
	ipcwait::barrier may_throw(1, [] {});
#elif CASE == 8  /* counts from 0 to IPCWAIT_SEM_VALUE_MAX */
	ipcwait::counting_semaphore<-1> below(0);
#elif CASE == 9  /* counts from 0 to IPCWAIT_SEM_VALUE_MAX */
	ipcwait::counting_semaphore<IPCWAIT_SEM_VALUE_MAX + 1L> above(0);
#elif CASE == 10 /* nodiscard */
	all.arrive();
#endif
	all.arrive_and_wait();
}

/* Tells the time, and lacks the types of a clock. */
struct no_clock {
	using duration = std::chrono::milliseconds;
	using time_point = std::chrono::time_point<no_clock>;
	static constexpr bool is_steady = true;
	static time_point now();
};

struct objects {
	ipcwait::timed_mutex timed;
	ipcwait::shared_timed_mutex shared;
	ipcwait::counting_semaphore<> tokens{ 0 };
	ipcwait::mutex plain;
	ipcwait::condition_variable c;
	ipcwait::condition_variable_any any;
	ipcwait::channel<int> numbers;
};

void use_times(objects &o, const no_clock::time_point &end)
{
	ipcwait::unique_lock lock(o.plain);

#if CASE == 11 /* from c++20: the time is not of a clock */
	(void)o.timed.try_lock_until(end);
#elif CASE == 12 /* from c++20: the time is not of a clock */
	(void)o.shared.try_lock_shared_until(end);
#elif CASE == 13 /* from c++20: the time is not of a clock */
	(void)o.tokens.try_acquire_until(end);
#elif CASE == 14 /* from c++20: the time is not of a clock */
	(void)o.c.wait_until(lock, end);
#elif CASE == 15 /* from c++20: the time is not of a clock */
	(void)o.any.wait_until(lock, end, [] { return true; });
#elif CASE == 16 /* from c++20: the time is not of a clock */
	(void)o.numbers.recv_until(end);
#elif CASE == 17 /* from c++20: the time is not of a clock */
	(void)ipcwait::select_until(end, nullptr, 0);
#endif
	(void)end;
}

/* What derives from the lock, or stands for it, is one. */
struct named_lock : std::unique_lock<ipcwait::mutex> {
	using unique_lock::unique_lock;
};

void use_own(named_lock &own)
{
	ipcwait::condition_variable c;

	c.wait(own);
	c.wait(std::ref(own), [] { return true; });
	(void)c.wait_for(own, std::chrono::seconds(1));
}
