/* SPDX-License-Identifier: MIT */
/* <ipcwait/ipcwait.hpp> with what the standard library does with locks. */
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <ipcwait/ipcwait.hpp>

#include "cpp_check.hpp"

using namespace std::chrono_literals;

static bool counting;
static unsigned allocations;

void *operator new(std::size_t size)
{
	void *p = std::malloc(size);

	allocations += counting;
	if (!p)
		throw std::bad_alloc();
	return p;
}

void operator delete(void *p) noexcept
{
	std::free(p);
}

void operator delete(void *p, std::size_t) noexcept
{
	std::free(p);
}

template <class Mutex> static void test_lockable()
{
	constexpr int rounds = 20000;
	Mutex a, b;
	long count = 0;
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&, i] {
			for (int k = 0; k < rounds; k++) {
				if (i == 0) {
					std::scoped_lock both(a, b);
					count++;
				} else if (i == 1) {
					std::scoped_lock both(b, a);
					count++;
				} else {
					std::unique_lock one(a);
					count++;
				}
			}
		});
	for (auto &t : threads)
		t.join();
	CHECK(count == 3 * rounds);
}

template <class Mutex> static void test_timed_lockable()
{
	Mutex m;
	std::unique_lock held(m);

	std::thread([&] {
		std::unique_lock now(m, std::try_to_lock);
		CHECK(!now);
		CHECK(!std::unique_lock(m, SHORT));
		CHECK(!std::unique_lock(m, std::chrono::steady_clock::now() + SHORT));
		CHECK(!std::unique_lock(m, std::chrono::system_clock::now() + SHORT));
		CHECK(!m.try_lock_for(-1h));
	}).join();
	held.unlock();
	CHECK(std::unique_lock(m, LONG));
	CHECK(std::unique_lock(m, std::chrono::system_clock::now() + LONG));
	CHECK(std::unique_lock(m, std::chrono::hours::max()));
	held.lock();
	std::thread([&] {
		using steady = std::chrono::steady_clock;
		using in_seconds = std::chrono::time_point<steady, std::chrono::seconds>;

		CHECK(!std::unique_lock(m, steady::time_point::min()));
		CHECK(!std::unique_lock(m, in_seconds::min()));
	}).join();
	held.unlock();
	using steady = std::chrono::steady_clock;
	CHECK(std::unique_lock(m, steady::time_point::max()));
	CHECK(std::unique_lock(
		m, std::chrono::time_point<steady, std::chrono::seconds>::max()));
}

static void test_kinds()
{
	ipcwait::recursive_mutex r;
	ipcwait::errorcheck_mutex e;
	ipcwait::mutex p(ipcwait::private_);

	std::scoped_lock first(r, e, p);
	std::scoped_lock second(r);
	CHECK(fails_with(EDEADLK, [&] { e.lock(); }));
	std::thread([&] { CHECK(fails_with(EPERM, [&] { r.unlock(); })); }).join();
	CHECK(p.native_handle()->flags == IPCWAIT_PRIVATE);
}

/* Each may be of one process, and is no less constant for it. */
static ipcwait::timed_mutex own_timed(ipcwait::private_);
static ipcwait::shared_mutex own_shared(ipcwait::private_);
static ipcwait::shared_timed_mutex own_shared_timed(ipcwait::private_);
static ipcwait::condition_variable own_condition(ipcwait::private_);
static ipcwait::condition_variable_any own_any(ipcwait::private_);
static ipcwait::counting_semaphore own_items(1, ipcwait::private_);
static ipcwait::latch own_latch(1, ipcwait::private_);
static ipcwait::barrier own_barrier(1, ipcwait::private_);

static void test_private()
{
	std::scoped_lock all(own_timed, own_shared, own_shared_timed);

	CHECK(own_timed.native_handle()->flags == IPCWAIT_PRIVATE);
	CHECK(own_shared.native_handle()->flags == IPCWAIT_PRIVATE);
	CHECK(own_shared_timed.native_handle()->flags == IPCWAIT_PRIVATE);
	CHECK(own_condition.native_handle()->flags == IPCWAIT_PRIVATE);
	CHECK(own_items.native_handle()->flags == IPCWAIT_PRIVATE);
	CHECK(own_latch.native_handle()->flags == IPCWAIT_PRIVATE);
	CHECK(own_any.wait_for(own_timed, SHORT) == std::cv_status::timeout);
	own_items.acquire();
	own_latch.arrive_and_wait();
	own_barrier.arrive_and_wait();
}

/* What the standard leaves undefined is told, and changes nothing. */
static void test_misuse()
{
	ipcwait::latch l(2);
	ipcwait::barrier<> b(2), nobody(0);
	ipcwait::mutex m;
	ipcwait::once_flag once;

	CHECK(fails_with(EOVERFLOW, [&] { l.count_down(3); }));
	CHECK(fails_with(EINVAL, [&] { l.count_down(-1); }));
	CHECK(!l.try_wait());
	l.arrive_and_wait(2);
	CHECK(fails_with(EOVERFLOW, [&] { (void)b.arrive(3); }));
	CHECK(fails_with(EINVAL, [&] { (void)b.arrive(0); }));
	b.wait(b.arrive(2));
	CHECK(fails_with(EOVERFLOW, [&] { nobody.arrive_and_drop(); }));
	CHECK(fails_with(EOVERFLOW, [&] { nobody.arrive_and_wait(); }));
	CHECK(fails_with(EPERM, [&] { m.unlock(); }));
	CHECK(fails_with(EDEADLK, [&] {
		ipcwait::call_once(once, [&] { ipcwait::call_once(once, [] {}); });
	}));
}

/* Our condition variable, and the standard's over our mutex. */
template <class Condition> static void test_condition()
{
	constexpr int turns = 2000;
	ipcwait::mutex m;
	Condition changed;
	int turn = 0;

	auto play = [&](int me) {
		for (int k = 0; k < turns; k++) {
			std::unique_lock lock(m);
			changed.wait(lock, [&] { return turn % 2 == me; });
			turn++;
			changed.notify_one();
		}
	};
	std::thread other(play, 1);
	play(0);
	other.join();
	CHECK(turn == 2 * turns);

	std::unique_lock lock(m);
	CHECK(!changed.wait_for(lock, SHORT, [] { return false; }));
	CHECK(changed.wait_for(lock, SHORT) == std::cv_status::timeout);
	CHECK(changed.wait_until(lock, std::chrono::system_clock::now() + SHORT) ==
	      std::cv_status::timeout);
	CHECK(changed.wait_until(lock, std::chrono::steady_clock::now() + LONG,
				 [] { return true; }));
	CHECK(lock.owns_lock());
}

static void test_shared_mutex()
{
	ipcwait::shared_timed_mutex m;
	std::shared_lock reading(m);

	std::thread([&] {
		CHECK(std::shared_lock(m, std::try_to_lock));
		CHECK(std::shared_lock(m, LONG));
		CHECK(!std::unique_lock(m, std::try_to_lock));
		CHECK(!std::unique_lock(m, SHORT));
	}).join();
	reading.unlock();
	std::scoped_lock writing(m);
	std::thread([&] {
		CHECK(!std::shared_lock(m, std::chrono::system_clock::now() + SHORT));
	}).join();
}

static void test_semaphore()
{
	ipcwait::counting_semaphore s(1);

	CHECK(s.try_acquire());
	CHECK(!s.try_acquire());
	CHECK(!s.try_acquire_for(SHORT));
	CHECK(!s.try_acquire_until(std::chrono::system_clock::now() + SHORT));
	std::thread other([&] { s.release(2); });
	s.acquire();
	CHECK(s.try_acquire_for(LONG));
	other.join();
	CHECK(fails_with(EOVERFLOW, [&] {
		s.release(IPCWAIT_SEM_VALUE_MAX);
		s.release();
	}));
}

static void test_no_allocation()
{
	counting = true;
	{
		ipcwait::mutex m;
		ipcwait::condition_variable c;
		ipcwait::condition_variable_any any;
		ipcwait::barrier<> b(1);
		std::unique_lock lock(m);

		CHECK(c.wait_for(lock, SHORT) == std::cv_status::timeout);
		CHECK(any.wait_for(lock, SHORT) == std::cv_status::timeout);
		c.notify_all();
		b.arrive_and_wait();
	}
	counting = false;
	CHECK(allocations == 0);
}

/* Initialised before the program runs: no constructor that others may be too early for. */
static ipcwait::mutex global;
static ipcwait::condition_variable global_changed;
static ipcwait::counting_semaphore global_items(3);

int main()
{
	std::scoped_lock lock(global);

	global_changed.notify_all();
	CHECK(global_items.try_acquire());
	test_lockable<ipcwait::mutex>();
	test_lockable<ipcwait::recursive_mutex>();
	test_lockable<ipcwait::errorcheck_mutex>();
	test_lockable<ipcwait::shared_mutex>();
	test_timed_lockable<ipcwait::timed_mutex>();
	test_timed_lockable<ipcwait::recursive_timed_mutex>();
	test_timed_lockable<ipcwait::shared_timed_mutex>();
	test_kinds();
	test_condition<ipcwait::condition_variable>();
	test_condition<ipcwait::condition_variable_any>();
	test_condition<std::condition_variable_any>();
	test_shared_mutex();
	test_semaphore();
	test_private();
	test_misuse();
	test_no_allocation();
	return 0;
}
