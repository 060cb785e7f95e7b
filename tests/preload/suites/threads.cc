/* SPDX-License-Identifier: MIT */
/* Tests of the C++20 library's threads: a line for each, "name ok" or "name FAIL why". */
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr auto brief = 30ms;
constexpr auto patience = 60s;

void check(bool good, const char *what)
{
	if (!good)
		throw std::logic_error(what);
}

/* Ends the program with what a thread threw, by a future. */
void together(int n, const std::function<void(int)> &body)
{
	std::vector<std::future<void>> all;

	for (int k = 0; k < n; k++)
		all.push_back(std::async(std::launch::async, body, k));
	for (auto &one : all)
		one.get();
}

void refused(const std::function<bool()> &timed)
{
	auto start = clock_type::now();

	check(!timed(), "is not given");
	check(clock_type::now() - start >= brief, "is not early");
}

template <class mutex_type> void counts()
{
	mutex_type m;
	int n = 0;

	together(4, [&](int) {
		for (int k = 0; k < 10000; k++) {
			std::lock_guard held(m);
			n++;
		}
	});
	check(n == 40000, "the sum");
}

template <class mutex_type> void timed()
{
	mutex_type m;
	std::unique_lock held(m);

	together(2, [&](int) {
		check(!m.try_lock(), "is held");
		refused([&] { return m.try_lock_for(brief); });
		refused([&] { return m.try_lock_until(clock_type::now() + brief); });
		refused([&] {
			return m.try_lock_until(std::chrono::system_clock::now() + brief);
		});
	});
	auto given = std::async(std::launch::async, [&] {
		bool got = m.try_lock_for(patience);

		if (got)
			m.unlock();
		return got;
	});
	held.unlock();
	check(given.get(), "is given");
}

void several_locks()
{
	std::mutex a, b;
	std::recursive_mutex c;
	int n = 0;

	together(4, [&](int me) {
		for (int k = 0; k < 2000; k++) {
			if (me % 2) {
				std::scoped_lock held(a, b, c);
				n++;
			} else {
				std::scoped_lock held(c, b, a);
				n++;
			}
		}
	});
	check(n == 8000, "the sum");
}

void shared()
{
	std::shared_timed_mutex m;
	std::barrier all(4);
	int pair[2] = { 0, 0 };

	together(4, [&](int) {
		for (int k = 0; k < 200; k++) {
			std::shared_lock held(m);
			all.arrive_and_wait();
		}
	});
	together(4, [&](int me) {
		for (int k = 0; k < 3000; k++) {
			if (me % 2) {
				std::unique_lock held(m);
				pair[0]++;
				pair[1]++;
			} else {
				std::shared_lock held(m);
				check(pair[0] == pair[1], "a pair");
			}
		}
	});
	std::unique_lock held(m);
	together(2, [&](int) { refused([&] { return m.try_lock_shared_for(brief); }); });
}

template <class condition, class mutex_type> void buffer()
{
	mutex_type m;
	condition full, empty;
	int slot = -1;

	auto puts = std::async(std::launch::async, [&] {
		for (int k = 0; k < 3000; k++) {
			std::unique_lock held(m);
			empty.wait(held, [&] { return slot < 0; });
			slot = k;
			full.notify_one();
		}
	});
	for (int k = 0; k < 3000; k++) {
		std::unique_lock held(m);
		full.wait(held, [&] { return slot >= 0; });
		check(slot == k, "in order");
		slot = -1;
		empty.notify_one();
	}
	puts.get();
}

using any = std::condition_variable_any;

template <class condition, class mutex_type> void condition_timed()
{
	mutex_type m;
	condition c;
	bool go = false;
	auto gone = [&] { return go; };
	std::unique_lock held(m);

	refused([&] { return c.wait_for(held, brief, gone); });
	refused([&] { return c.wait_until(held, clock_type::now() + brief, gone); });
	refused([&] {
		return c.wait_until(held, std::chrono::system_clock::now() + brief, gone);
	});
	held.unlock();
	auto waits = std::async(std::launch::async, [&] {
		std::unique_lock mine(m);
		return c.wait_for(mine, patience, gone);
	});
	held.lock();
	go = true;
	c.notify_all();
	held.unlock();
	check(waits.get(), "is told");
}

void stop_tokens()
{
	std::mutex m;
	std::condition_variable_any c;
	std::atomic<int> stopped{ 0 }, called{ 0 };

	for (int k = 0; k < 100; k++) {
		std::jthread waits([&](std::stop_token token) {
			std::stop_callback hook(token, [&] { called++; });
			std::unique_lock held(m);
			if (!c.wait(held, token, [] { return false; }))
				stopped++;
		});
		if (k % 2)
			std::this_thread::yield();
	}
	check(stopped == 100 && called == 100, "all are stopped");
}

template <class semaphore> void tokens()
{
	semaphore there(0), back(0);

	refused([&] { return there.try_acquire_for(brief); });
	refused([&] { return there.try_acquire_until(clock_type::now() + brief); });
	auto other = std::async(std::launch::async, [&] {
		for (int k = 0; k < 5000; k++) {
			there.acquire();
			back.release();
		}
	});
	for (int k = 0; k < 5000; k++) {
		there.release();
		check(back.try_acquire_for(patience), "comes back");
	}
	other.get();
	check(!there.try_acquire() && !back.try_acquire(), "none is left");
}

void latches()
{
	for (int k = 0; k < 200; k++) {
		std::latch go(1), done(3);
		int seen[3] = { 0, 0, 0 };
		std::vector<std::jthread> all;

		for (int &mine : seen)
			all.emplace_back([&] {
				go.wait();
				mine = 1;
				done.count_down();
			});
		check(!done.try_wait(), "is closed");
		go.count_down();
		done.wait();
		check(seen[0] + seen[1] + seen[2] == 3, "all were there");
	}
}

void barriers()
{
	int phases = 0;
	std::barrier all(4, [&]() noexcept { phases++; });

	together(4, [&](int me) {
		for (int k = 0; k < 500 + 100 * me; k++) {
			all.arrive_and_wait();
			check(phases > k, "the completion comes first");
		}
		all.arrive_and_drop();
	});
	check(phases >= 801, "phases");
}

void atomics()
{
	std::atomic<int> word{ 0 };
	std::atomic_flag flag;
	std::atomic<long long> wide{ 0 };

	auto other = std::async(std::launch::async, [&] {
		for (int k = 0; k < 3000; k++) {
			word.wait(2 * k);
			word++;
			word.notify_one();
		}
		flag.wait(false);
		wide = 1;
		wide.notify_all();
	});
	for (int k = 0; k < 3000; k++) {
		word++;
		word.notify_one();
		word.wait(2 * k + 1);
	}
	flag.test_and_set();
	flag.notify_all();
	wide.wait(0);
	other.get();
	check(word == 6000, "the sum");
}

void futures()
{
	for (int k = 0; k < 200; k++) {
		std::promise<int> promise;
		auto given = promise.get_future().share();
		auto one = std::async(std::launch::async, [given] { return given.get(); });
		auto two = std::async(std::launch::async, [given] { return given.get(); });

		promise.set_value(k);
		check(one.get() + two.get() == 2 * k, "both have it");
	}
	std::promise<void> never;
	auto waits = never.get_future();

	refused([&] { return waits.wait_for(brief) == std::future_status::ready; });
	never.set_exception(std::make_exception_ptr(std::range_error("on purpose")));
	try {
		waits.get();
		check(false, "not reached");
	} catch (const std::range_error &) {
	}
}

void broken_promise()
{
	std::future<void> waits;

	{
		std::promise<void> promise;
		waits = promise.get_future();
	}
	try {
		waits.get();
		check(false, "not reached");
	} catch (const std::future_error &e) {
		check(e.code() == std::future_errc::broken_promise, "what it is");
	}
	auto late = std::async(std::launch::deferred, [] { return 3; });
	check(late.wait_for(0s) == std::future_status::deferred && late.get() == 3,
	      "deferred");
}

void packaged()
{
	std::packaged_task<int(int)> task([](int n) { return n + 1; });
	auto result = task.get_future();
	std::promise<void> at_end;
	auto ended = at_end.get_future();
	std::jthread one(std::move(task), 4);
	std::jthread two([&] { at_end.set_value_at_thread_exit(); });

	check(result.get() == 5, "the result");
	ended.get();
}

void once()
{
	for (int k = 0; k < 200; k++) {
		std::once_flag flag;
		int runs = 0;

		together(4, [&](int) {
			std::call_once(flag, [&] { runs++; });
			check(runs == 1, "it has run");
		});
	}
}

/* A function that is static in another is initialized once, however many come. */
int slow_static()
{
	static const int value = [] {
		std::this_thread::sleep_for(brief);
		return 7;
	}();

	return value;
}

void local_static()
{
	together(4, [](int) { check(slow_static() == 7, "the value"); });
}

struct test {
	const char *name;
	void (*body)();
};

const test tests[] = {
	{ "mutex", counts<std::mutex> },
	{ "recursive_mutex", counts<std::recursive_mutex> },
	{ "shared_mutex", counts<std::shared_mutex> },
	{ "timed_mutex", timed<std::timed_mutex> },
	{ "recursive_timed_mutex", timed<std::recursive_timed_mutex> },
	{ "shared_timed_mutex", timed<std::shared_timed_mutex> },
	{ "scoped_lock", several_locks },
	{ "shared_lock", shared },
	{ "condition_variable", buffer<std::condition_variable, std::mutex> },
	{ "condition_variable.timed",
	  condition_timed<std::condition_variable, std::mutex> },
	{ "condition_variable_any", buffer<any, std::shared_mutex> },
	{ "condition_variable_any.timed", condition_timed<any, std::shared_mutex> },
	{ "jthread.stop", stop_tokens },
	{ "counting_semaphore", tokens<std::counting_semaphore<>> },
	{ "binary_semaphore", tokens<std::binary_semaphore> },
	{ "latch", latches },
	{ "barrier", barriers },
	{ "atomic.wait", atomics },
	{ "future", futures },
	{ "future.broken", broken_promise },
	{ "packaged_task", packaged },
	{ "call_once", once },
	{ "static", local_static },
};

} /* namespace */

int main()
{
	int failed = 0;

	for (const test &one : tests) {
		std::string verdict = "ok";

		try {
			one.body();
		} catch (const std::exception &e) {
			verdict = std::string("FAIL ") + e.what();
			failed++;
		}
		std::printf("%s %s\n", one.name, verdict.c_str());
		std::fflush(stdout);
	}
	return failed > 0;
}
