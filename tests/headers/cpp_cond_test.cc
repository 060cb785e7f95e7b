/* SPDX-License-Identifier: MIT */
/*
 * A condition variable may be destroyed as soon as all who wait for it have been notified, though
 * none of them has returned: what is put into its place is nobody's but its new owner's.
 */
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include <ipcwait/ipcwait.hpp>

#include "cpp_check.hpp"

static constexpr int rounds = 200, waiters = 4;

template <class Condition> struct room {
	ipcwait::mutex lock;
	int waiting = 0;
	bool open = false;
	alignas(Condition) unsigned char place[sizeof(Condition)] = {};

	Condition *ready()
	{
		return std::launder(reinterpret_cast<Condition *>(place));
	}
};

template <class Condition> static void wait_in(room<Condition> &r)
{
	std::unique_lock<ipcwait::mutex> guard(r.lock);

	r.waiting++;
	while (!r.open)
		r.ready()->wait(guard);
}

template <class Condition> static void destroy_and_reuse(room<Condition> &r)
{
	std::vector<std::thread> threads;
	bool all = false;

	new (r.place) Condition;
	for (int i = 0; i < waiters; i++)
		threads.emplace_back([&r] { wait_in(r); });
	while (!all) {
		std::lock_guard<ipcwait::mutex> guard(r.lock);
		all = r.waiting == waiters;
	}
	{
		std::lock_guard<ipcwait::mutex> guard(r.lock);
		r.open = true;
		r.ready()->notify_all();
		r.ready()->~Condition();
		std::memset(r.place, 0xee, sizeof(r.place));
	}
	for (std::thread &t : threads)
		t.join();
	for (unsigned char byte : r.place)
		CHECK(byte == 0xee);
}

int main()
{
	for (int i = 0; i < rounds; i++) {
		room<ipcwait::condition_variable> r;
		room<ipcwait::condition_variable_any> any;

		destroy_and_reuse(r);
		destroy_and_reuse(any);
	}
}
