/* SPDX-License-Identifier: MIT */
/* No signal handler ends a C++ wait, but one for a semaphore that was made so. */
#include <atomic>
#include <csignal>
#include <thread>

#include <ipcwait/ipcwait.hpp>

#include "cpp_check.hpp"

static std::atomic<int> handled;

static void handle(int)
{
	handled++;
}

/* A thread that does @wait(), and gets signals until it has handled @n more, or is over. */
template <class Wait> struct interrupted {
	interrupted(int n, Wait wait)
	    : thread_([this, wait] {
		      wait();
		      is_over_ = true;
		      while (!is_told_)
			      std::this_thread::yield();
	      })
	{
		for (int before = handled; handled - before < n && !is_over_;) {
			CHECK(pthread_kill(thread_.native_handle(), SIGUSR1) == 0);
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
	}
	bool is_over() const
	{
		return is_over_;
	}
	~interrupted()
	{
		is_told_ = true;
		thread_.join();
	}

	std::atomic<bool> is_over_{ false }, is_told_{ false };
	std::thread thread_;
};

/* It ends by @end() and not before. */
template <class Wait, class End> static void goes_on(Wait wait, End end)
{
	interrupted waiter(20, wait);

	CHECK(!waiter.is_over());
	end();
}

static void test_semaphore()
{
	ipcwait::counting_semaphore s(0);

	goes_on([&] { s.acquire(); }, [&] { s.release(); });
	goes_on([&] { CHECK(s.try_acquire_for(LONG)); }, [&] { s.release(); });
	CHECK(ipcwait_sem_init(s.native_handle(), 0, IPCWAIT_INTERRUPTIBLE) == 0);
	interrupted ended(1000, [&] {
		CHECK(fails_with(EINTR, [&] { s.acquire(); }));
		CHECK(fails_with(EINTR, [&] { (void)s.try_acquire_for(LONG); }));
	});
	CHECK(ended.is_over());
}

template <class Condition> static void test_condition()
{
	ipcwait::mutex lock;
	Condition changed;
	bool there = false;

	goes_on(
		[&] {
			std::unique_lock guard(lock);
			CHECK(changed.wait_for(guard, LONG, [&] { return there; }));
		},
		[&] {
			std::scoped_lock guard(lock);
			there = true;
			changed.notify_one();
		});
}

int main()
{
	struct sigaction action = {};
	ipcwait::latch l(1);
	ipcwait::barrier<> b(2);

	action.sa_handler = handle;
	CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
	test_semaphore();
	test_condition<ipcwait::condition_variable>();
	test_condition<ipcwait::condition_variable_any>();
	goes_on([&] { l.wait(); }, [&] { l.count_down(); });
	goes_on([&] { b.arrive_and_wait(); }, [&] { b.arrive_and_wait(); });
	return 0;
}
