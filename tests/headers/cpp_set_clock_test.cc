/* SPDX-License-Identifier: MIT */
/*
 * Waits until a time of a clock that is set meanwhile. Set forward beyond that time it ends the
 * wait soon, set back it does not let it end before.
 */
#include <atomic>
#include <thread>

#include <ipcwait/ipcwait.hpp>

#include "cpp_check.hpp"

struct set_clock {
	using duration = std::chrono::steady_clock::duration;
	using rep = duration::rep;
	using period = duration::period;
	using time_point = std::chrono::time_point<set_clock>;

	static constexpr bool is_steady = false;

	static time_point now()
	{
		return time_point(std::chrono::steady_clock::now().time_since_epoch() +
				  offset.load());
	}

	static inline std::atomic<duration> offset{ duration(0) };
};

/* The clock is set by @step once the wait is under way. @wait(end) says whether it had to end. */
template <class Wait>
static void set_while(set_clock::duration step, set_clock::duration time, Wait wait)
{
	const auto begin = std::chrono::steady_clock::now();
	const auto end = set_clock::now() + time;

	std::thread setter([&] {
		std::this_thread::sleep_for(SHORT);
		if (set_clock::now() < end)
			set_clock::offset = set_clock::offset.load() + step;
	});
	CHECK(wait(end));
	CHECK(set_clock::now() >= end);
	CHECK(std::chrono::steady_clock::now() - begin < LONG);
	setter.join();
}

template <class Wait> static void test(Wait wait)
{
	set_while(std::chrono::hours(1), LONG + LONG / 4, wait);
	set_while(-std::chrono::milliseconds(300), std::chrono::milliseconds(200), wait);
}

template <class Condition> static void test_condition()
{
	ipcwait::mutex lock;
	Condition c;
	std::unique_lock guard(lock);

	test([&](auto end) { return !c.wait_until(guard, end, [] { return false; }); });
	test([&](auto end) {
		while (c.wait_until(guard, end) == std::cv_status::no_timeout)
			continue;
		return true;
	});
}

int main()
{
	ipcwait::timed_mutex m;
	ipcwait::shared_timed_mutex l;
	ipcwait::counting_semaphore s(0);

	m.lock();
	l.lock();
	test([&](auto end) { return !m.try_lock_until(end); });
	test([&](auto end) { return !l.try_lock_until(end); });
	test([&](auto end) { return !l.try_lock_shared_until(end); });
	test([&](auto end) { return !s.try_acquire_until(end); });
	test_condition<ipcwait::condition_variable>();
	test_condition<ipcwait::condition_variable_any>();
	return 0;
}
