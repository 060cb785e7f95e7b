/* SPDX-License-Identifier: MIT */
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "port.hpp"

template <class Mutex> static long count_with(const char *name)
{
	constexpr int threads = 4, rounds = 5000;
	Mutex a, b;
	long count = 0;

	in_threads(threads, [&](int i) {
		for (int k = 0; k < rounds; k++) {
			if (i == 0) {
				mt::scoped_lock both(a, b);
				count++;
			} else if (i == 1) {
				mt::lock(b, a);
				mt::lock_guard one(a, mt::adopt_lock);
				mt::lock_guard other(b, mt::adopt_lock);
				count++;
			} else if (i == 2) {
				mt::unique_lock one(a, mt::defer_lock);
				mt::unique_lock other(b, mt::defer_lock);
				while (mt::try_lock(one, other) != -1)
					std::this_thread::yield();
				count++;
			} else {
				mt::unique_lock guard(a);
				count++;
				guard.unlock();
			}
		}
	});
	std::printf("%s: %ld\n", name, count);
	return count;
}

template <class Mutex> static bool others_get(Mutex &m)
{
	bool got = false;

	std::thread([&] {
		mt::unique_lock guard(m, mt::try_to_lock);
		got = guard.owns_lock();
	}).join();
	return got;
}

template <class Mutex> static void recurse(const char *name)
{
	Mutex m;
	std::function<int(int)> down = [&](int n) {
		mt::lock_guard<Mutex> guard(m);
		return n ? 1 + down(n - 1) : 1;
	};

	std::printf("%s: %d deep, ", name, down(10));
	m.lock();
	std::printf("again %d, others %d, ", m.try_lock(), others_get(m));
	m.unlock();
	std::printf("%d, ", others_get(m));
	m.unlock();
	std::printf("%d\n", others_get(m));
}

static mt::mutex global;

void mutexes()
{
	mt::lock_guard<mt::mutex> guard(global);

	count_with<mt::mutex>("mutex");
	count_with<mt::timed_mutex>("timed_mutex");
	count_with<mt::recursive_mutex>("recursive_mutex");
	count_with<mt::recursive_timed_mutex>("recursive_timed_mutex");
	count_with<mt::shared_mutex>("shared_mutex");
	recurse<mt::recursive_mutex>("recursive_mutex");
	recurse<mt::recursive_timed_mutex>("recursive_timed_mutex");
}

template <class Mutex> static void try_in_time(const char *name)
{
	Mutex m;
	mt::unique_lock<Mutex> held(m);

	std::thread([&] {
		std::printf("%s: held %d %d %d %d %d\n", name,
			    mt::unique_lock<Mutex>(m, SHORT).owns_lock(),
			    m.try_lock_for(-SHORT),
			    m.try_lock_until(std::chrono::steady_clock::now() + SHORT),
			    m.try_lock_until(std::chrono::system_clock::now() + SHORT),
			    m.try_lock_until(std::chrono::system_clock::time_point()));
	}).join();
	held.unlock();
	std::printf("%s: free %d", name, m.try_lock_for(LONG));
	m.unlock();
	std::printf(" %d", m.try_lock_until(std::chrono::system_clock::now() + LONG));
	std::thread late([&] {
		mt::unique_lock<Mutex> mine(m, std::chrono::steady_clock::now() + LONG);
		std::printf(" %d\n", mine.owns_lock());
	});
	std::this_thread::sleep_for(SHORT);
	m.unlock();
	late.join();
}

void timed_mutexes()
{
	try_in_time<mt::timed_mutex>("timed_mutex");
	try_in_time<mt::recursive_timed_mutex>("recursive_timed_mutex");
	try_in_time<mt::shared_timed_mutex>("shared_timed_mutex");
}

struct table {
	int fills = 0;

	int fill(int n, std::unique_ptr<int> more)
	{
		return fills += n + *more;
	}
};

void once()
{
	static mt::once_flag flag, thrown, member;
	int runs = 0, caught = 0;
	table t;

	in_threads(4, [&](int) { mt::call_once(flag, [&] { runs++; }); });
	in_threads(4, [&](int) {
		try {
			mt::call_once(thrown, [&] {
				if (++runs < 4)
					throw std::runtime_error("not yet");
			});
		} catch (const std::runtime_error &) {
			static mt::mutex lock;
			mt::lock_guard<mt::mutex> guard(lock);
			caught++;
		}
	});
	mt::call_once(member, &table::fill, t, 3, std::make_unique<int>(4));
	mt::call_once(member, &table::fill, &t, 3, std::make_unique<int>(4));
	std::printf("call_once: %d runs, %d caught, %d in a copy\n", runs, caught, t.fills);
}

/* Many read at a time, one writes; readers see whole writes. */
template <class Mutex> static void read_and_write(const char *name)
{
	std::map<int, std::string> names;
	mt::latch both_in(2);
	Mutex m;
	long found = 0;

	in_threads(2, [&](int) {
		mt::shared_lock<Mutex> reading(m);
		both_in.arrive_and_wait();
	});
	in_threads(4, [&](int i) {
		for (int k = 0; k < 1000; k++) {
			if (i < 2) {
				mt::unique_lock<Mutex> writing(m);
				names[k * 2 + i] = "x";
			} else {
				mt::shared_lock<Mutex> reading(m);
				if (names.size() > 2000)
					std::abort();
			}
		}
	});
	mt::shared_lock<Mutex> reading(m);
	std::thread([&] {
		found = mt::shared_lock<Mutex>(m, mt::try_to_lock).owns_lock();
		found = found * 10 + m.try_lock();
	}).join();
	std::printf("%s: %zu, %ld\n", name, names.size(), found);
}

void shared_mutexes()
{
	mt::shared_timed_mutex m;

	read_and_write<mt::shared_mutex>("shared_mutex");
	read_and_write<mt::shared_timed_mutex>("shared_timed_mutex");
	m.lock_shared();
	std::thread([&] {
		std::printf("shared_timed_mutex: %d %d %d %d\n", m.try_lock_for(SHORT),
			    m.try_lock_shared_for(SHORT),
			    m.try_lock_until(std::chrono::system_clock::now() + SHORT),
			    mt::shared_lock(m, std::chrono::steady_clock::now() + SHORT)
				    .owns_lock());
		m.unlock_shared();
	}).join();
	m.unlock_shared();
	m.lock();
	std::thread([&] {
		std::printf(
			"shared_timed_mutex: %d %d\n", m.try_lock_shared_for(SHORT),
			m.try_lock_shared_until(std::chrono::system_clock::now() + SHORT));
	}).join();
	m.unlock();
}
