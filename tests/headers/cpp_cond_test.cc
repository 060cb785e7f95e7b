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

struct room {
	ipcwait::mutex lock;
	int waiting = 0;
	bool open = false;
	alignas(ipcwait::condition_variable) unsigned char place[sizeof(
		ipcwait::condition_variable)] = {};

	ipcwait::condition_variable *ready()
	{
		return std::launder(reinterpret_cast<ipcwait::condition_variable *>(place));
	}
};

static void wait_in(room &r)
{
	std::unique_lock<ipcwait::mutex> guard(r.lock);

	r.waiting++;
	while (!r.open)
		r.ready()->wait(guard);
}

static void destroy_and_reuse(room &r)
{
	std::vector<std::thread> threads;
	bool all = false;

	new (r.place) ipcwait::condition_variable;
	for (int i = 0; i < waiters; i++)
		threads.emplace_back(wait_in, std::ref(r));
	while (!all) {
		std::lock_guard<ipcwait::mutex> guard(r.lock);
		all = r.waiting == waiters;
	}
	{
		std::lock_guard<ipcwait::mutex> guard(r.lock);
		r.open = true;
		r.ready()->notify_all();
		r.ready()->~condition_variable();
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
		room r;

		destroy_and_reuse(r);
	}
}
