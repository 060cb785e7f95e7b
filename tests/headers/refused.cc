/* SPDX-License-Identifier: MIT */
/*
 * Each CASE is refused, with a message that has what stands beside it. Without any there is no
 * warning.
 */
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
