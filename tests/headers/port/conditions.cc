/* SPDX-License-Identifier: MIT */
#include <deque>
#include <memory>

#include "port.hpp"

/* Producers and consumers; the end is told to all. */
template <class Condition, class Mutex> static void pass_jobs(const char *name)
{
	Mutex m;
	Condition changed;
	std::deque<int> jobs;
	bool closed = false;
	long sum = 0;

	std::thread end([&] {
		in_threads(2, [&](int) {
			for (int k = 1; k <= 3000; k++) {
				mt::unique_lock lock(m);
				jobs.push_back(k);
				lock.unlock();
				changed.notify_one();
			}
		});
		mt::lock_guard lock(m);
		closed = true;
		changed.notify_all();
	});
	in_threads(3, [&](int) {
		mt::unique_lock lock(m);
		for (;;) {
			changed.wait(lock, [&] { return closed || !jobs.empty(); });
			if (jobs.empty())
				break;
			sum += jobs.front();
			jobs.pop_front();
		}
	});
	end.join();
	std::printf("%s: %ld\n", name, sum);
}

template <class Condition, class Mutex> static void wait_in_time(const char *name)
{
	const auto steady = [] { return std::chrono::steady_clock::now(); };
	const auto system = [] { return std::chrono::system_clock::now(); };
	Mutex m;
	Condition changed;
	bool there = false;
	mt::unique_lock lock(m);
	auto is_there = [&] { return there; };

	std::printf("%s: %d %d %d", name,
		    changed.wait_for(lock, SHORT) == mt::cv_status::timeout,
		    changed.wait_until(lock, steady() + SHORT) == mt::cv_status::timeout,
		    changed.wait_until(lock, system() + SHORT) == mt::cv_status::timeout);
	std::printf(" %d %d %d %d", changed.wait_for(lock, SHORT, is_there),
		    changed.wait_until(lock, steady() + SHORT, is_there),
		    changed.wait_until(lock, system() + SHORT, is_there),
		    changed.wait_for(lock, std::chrono::hours(-1), is_there));
	std::thread other([&] {
		mt::lock_guard guard(m);
		there = true;
		changed.notify_all();
	});
	std::printf(" %d", changed.wait_until(lock, system() + LONG, is_there));
	std::printf(" %d", changed.wait_for(lock, LONG, is_there));
	std::printf(" %d\n", lock.owns_lock());
	other.join();
}

/* Waiters that were notified do not need it any more. */
template <class Condition> static void destroy_early(const char *name)
{
	for (int round = 0; round < 100; round++) {
		mt::mutex m;
		auto changed = std::make_unique<Condition>();
		int waiting = 0;
		bool open = false;

		std::thread all([&] {
			in_threads(3, [&, changed = changed.get()](int) {
				mt::unique_lock<mt::mutex> lock(m);
				waiting++;
				while (!open)
					changed->wait(lock);
			});
		});
		for (;;) {
			mt::unique_lock<mt::mutex> lock(m);
			if (waiting == 3) {
				open = true;
				changed->notify_all();
				changed.reset();
				break;
			}
			lock.unlock();
			std::this_thread::yield();
		}
		all.join();
	}
	std::printf("%s: destroyed\n", name);
}

void conditions()
{
	pass_jobs<mt::condition_variable, mt::mutex>("condition_variable");
	wait_in_time<mt::condition_variable, mt::mutex>("condition_variable");
	destroy_early<mt::condition_variable>("condition_variable");
}

/* A lock of the program's own. */
struct own_lock {
	mt::mutex m;
	int locks = 0;

	void lock()
	{
		m.lock();
		locks++;
	}
	void unlock()
	{
		m.unlock();
	}
};

void any_conditions()
{
	pass_jobs<mt::condition_variable_any, mt::mutex>("any of mutex");
	pass_jobs<mt::condition_variable_any, mt::recursive_mutex>(
		"any of recursive_mutex");
	pass_jobs<mt::condition_variable_any, mt::shared_timed_mutex>(
		"any of shared_timed");
	wait_in_time<mt::condition_variable_any, mt::mutex>("any of mutex");
	wait_in_time<mt::condition_variable_any, mt::timed_mutex>("any of timed_mutex");
	destroy_early<mt::condition_variable_any>("any");

	own_lock own;
	mt::condition_variable_any changed;
	bool there = false;

	own.lock();
	std::thread other([&] {
		mt::lock_guard guard(own);
		there = true;
		changed.notify_one();
	});
	changed.wait(own, [&] { return there; });
	own.unlock();
	other.join();

	mt::shared_mutex shared;
	mt::shared_lock reading(shared);
	std::printf("any of shared_lock: %d, own lock: %d\n",
		    changed.wait_for(reading, SHORT) == mt::cv_status::timeout,
		    own.locks > 2);
}

void stop_tokens()
{
	mt::mutex m;
	mt::condition_variable_any changed;
	bool there = false;
	auto is_there = [&] { return there; };
	int results[4] = {};

	{
		std::jthread asleep([&](std::stop_token stop) {
			mt::unique_lock lock(m);
			results[0] = changed.wait(lock, stop, is_there);
		});
		std::jthread timed([&](std::stop_token stop) {
			mt::unique_lock lock(m);
			results[1] = changed.wait_for(lock, stop, LONG, is_there);
		});
		std::jthread until([&](std::stop_token stop) {
			mt::unique_lock lock(m);
			results[2] = changed.wait_until(
				lock, stop, std::chrono::system_clock::now() + LONG,
				is_there);
		});
		std::jthread late([&](std::stop_token stop) {
			mt::unique_lock lock(m);
			results[3] = changed.wait_for(lock, stop, SHORT, is_there);
		});
		std::this_thread::sleep_for(SHORT);
	}
	std::printf("stopped: %d %d %d %d\n", results[0], results[1], results[2],
		    results[3]);

	std::jthread told([&](std::stop_token stop) {
		mt::unique_lock lock(m);
		results[0] = changed.wait(lock, stop, is_there);
	});
	{
		mt::lock_guard lock(m);
		there = true;
	}
	changed.notify_one();
	told.join();
	std::printf("told: %d", results[0]);

	/* A request that comes after the look at it, and before the wait. */
	std::stop_source source;
	mt::unique_lock lock(m);
	bool stopped = changed.wait(lock, source.get_token(),
				    [&] { return !source.request_stop() && false; });
	lock.unlock();
	there = false;
	for (int i = 0; i < 200; i++) {
		std::jthread waiter([&](std::stop_token stop) {
			mt::unique_lock guard(m);
			if (changed.wait(guard, stop, is_there))
				std::abort();
		});
	}
	std::printf(", all stopped: %d\n", stopped);
}

static mt::mutex exit_lock;
static mt::condition_variable ended;
static bool destroyed;

/* Made before the call: it is destroyed before the notice nevertheless. */
struct local {
	bool used = false;

	~local()
	{
		std::this_thread::sleep_for(SHORT);
		destroyed = used;
	}
};

void thread_exits()
{
	std::thread thread([] {
		static thread_local local mine;
		mt::unique_lock<mt::mutex> lock(exit_lock);

		mine.used = true;
		mt::notify_all_at_thread_exit(ended, std::move(lock));
	});
	{
		mt::unique_lock<mt::mutex> lock(exit_lock);

		while (!destroyed)
			ended.wait(lock);
	}
	thread.join();
	std::printf("notify_all_at_thread_exit: %d\n", destroyed);
}
