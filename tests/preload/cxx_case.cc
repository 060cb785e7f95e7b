/* SPDX-License-Identifier: MIT */
/* What the standard library of C++ makes of the C library's locks. */
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "say.h"

using namespace std::chrono_literals;

template <class Condition, class Mutex> struct Box {
	Mutex mutex;
	Condition changed;
	int value = 0;
};

template <class Clock, class B> static bool until_passes(B &box)
{
	std::unique_lock lock(box.mutex);
	const auto began = std::chrono::steady_clock::now();
	const auto status = box.changed.wait_until(lock, Clock::now() + 20ms);
	const auto took = std::chrono::steady_clock::now() - began;

	return status == std::cv_status::timeout && took > 15ms && lock.owns_lock();
}

/* Waits that end by time, by a deadline that is over or far, and by a predicate. */
template <class B> static void in_time(const char *name)
{
	B box;

	std::printf("== %s\n", name);
	expect_true("wait_until, steady", until_passes<std::chrono::steady_clock>(box));
	expect_true("wait_until, system", until_passes<std::chrono::system_clock>(box));
	std::unique_lock lock(box.mutex);
	expect_true("wait_for nothing",
		    box.changed.wait_for(lock, 0s) == std::cv_status::timeout);
	expect_true("wait_for less than nothing",
		    box.changed.wait_for(lock, -5s) == std::cv_status::timeout);
	expect_true("wait_until the epoch",
		    box.changed.wait_until(lock, std::chrono::steady_clock::time_point()) ==
			    std::cv_status::timeout);
	expect_true("wait_for, false",
		    !box.changed.wait_for(lock, 5ms, [] { return false; }));
	expect_true("wait_for, true", box.changed.wait_for(lock, 1h, [] { return true; }));
	std::thread later([&] {
		pass_ms(5);
		std::lock_guard guard(box.mutex);
		box.value = 1;
		box.changed.notify_one();
	});
	expect_true("wait_until far away",
		    box.changed.wait_until(lock,
					   std::chrono::steady_clock::now() + 24h * 365,
					   [&] { return box.value == 1; }));
	lock.unlock();
	later.join();
}

/* Producers and consumers. */
template <class B> static void pass_on(const char *name)
{
	constexpr int EACH = 2000;
	std::vector<std::thread> threads;
	B box;
	bool closed = false;
	long taken = 0;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] {
			std::unique_lock lock(box.mutex);
			for (;;) {
				box.changed.wait(lock, [&] { return closed || box.value; });
				if (!box.value)
					break;
				box.value--;
				taken++;
			}
		});
	{
		std::vector<std::thread> makers;
		for (int i = 0; i < 2; i++)
			makers.emplace_back([&] {
				for (int k = 0; k < EACH; k++) {
					{
						std::lock_guard guard(box.mutex);
						box.value++;
					}
					box.changed.notify_one();
				}
			});
		for (auto &t : makers)
			t.join();
	}
	{
		std::lock_guard guard(box.mutex);
		closed = true;
	}
	box.changed.notify_all();
	for (auto &t : threads)
		t.join();
	expect_number(name, taken, 2 * EACH);
}

/* Unwinding by a cancellation runs destructors, with the mutex locked. */
struct Canary {
	std::unique_lock<std::mutex> &lock;
	int &seen;

	~Canary()
	{
		bool free = true;

		std::thread([&] {
			free = lock.mutex()->try_lock();
			if (free)
				lock.mutex()->unlock();
		}).join();
		seen = lock.owns_lock() && !free ? 1 : 2;
	}
};

static int seen_by_canary, rethrown;
static Box<std::condition_variable, std::mutex> waited;
static int waiting;

static void *wait_in_cxx(void *)
{
	std::unique_lock lock(waited.mutex);
	Canary canary{ lock, seen_by_canary };

	set(&waiting, 1);
	try {
		waited.changed.wait(lock, [] { return false; });
	} catch (...) {
		add(&rethrown, 1);
		throw;
	}
	return nullptr;
}

static void unwound(long us)
{
	set(&waiting, 0);
	set(&rethrown, 0);
	seen_by_canary = 0;
	pthread_t t = begin_thread(wait_in_cxx, nullptr);
	NEEDS(becomes(&waiting, 1));
	if (us)
		pass_us(us);
	NEEDS(pthread_cancel(t) == 0);
	expect_true("cancelled in C++", end_thread(t) == PTHREAD_CANCELED);
	expect_number("a catch that throws again", rethrown, 1);
	expect_number("the destructor, with the mutex", seen_by_canary, 1);
	expect_true("the mutex is free", waited.mutex.try_lock());
	waited.mutex.unlock();
}

static void others()
{
	std::promise<int> promise;
	std::shared_timed_mutex shared;
	std::timed_mutex timed;
	std::recursive_mutex recursive;
	std::once_flag once;
	int calls = 0;
	auto future = promise.get_future();

	expect_true("a future that is not ready",
		    future.wait_for(5ms) == std::future_status::timeout);
	std::thread keeper([&] {
		pass_ms(3);
		promise.set_value(42);
	});
	expect_number("a future", future.get(), 42);
	keeper.join();
	std::unique_lock writer(shared);
	std::thread([&] {
		expect_true("shared, in time", !shared.try_lock_shared_for(5ms));
	}).join();
	writer.unlock();
	std::unique_lock held(timed);
	std::thread([&] {
		expect_true("timed, in time", !timed.try_lock_for(5ms));
	}).join();
	std::lock_guard first(recursive), second(recursive);
	for (int i = 0; i < 2; i++) {
		try {
			std::call_once(once, [&] {
				if (++calls == 1)
					throw std::runtime_error("once more");
			});
		} catch (const std::runtime_error &) {
			say("thrown out of call_once", 0);
		}
	}
	expect_number("calls", calls, 2);
	expect_number("async", std::async(std::launch::async, [] { return 7; }).get(), 7);
}

int main()
{
	say_begin();
	std::setvbuf(stdout, nullptr, _IONBF, 0);
	in_time<Box<std::condition_variable, std::mutex>>("condition_variable");
	in_time<Box<std::condition_variable_any, std::mutex>>("condition_variable_any");
	in_time<Box<std::condition_variable_any, std::timed_mutex>>("of a timed mutex");
	pass_on<Box<std::condition_variable, std::mutex>>("passed on");
	pass_on<Box<std::condition_variable_any, std::recursive_mutex>>("passed on by any");
	unwound(0);
	unwound(30);
	unwound(5000);
	others();
	return say_end();
}
