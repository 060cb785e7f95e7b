/* SPDX-License-Identifier: MIT */
/*
 * A stop that is requested after a condition variable was destroyed, of a wait that has ended and
 * not returned, because it has not got its lock again: nothing is notified in what is there then.
 */
#include <cstring>
#include <new>
#include <thread>

#include <ipcwait/ipcwait.hpp>

#include "cpp_check.hpp"

#ifdef __cpp_lib_jthread
using condition = ipcwait::condition_variable_any;

static ipcwait::mutex lock;
static bool waits, open_;
static bool stopped_late;
alignas(condition) static unsigned char place[sizeof(condition)];

static condition &ready()
{
	return *std::launder(reinterpret_cast<condition *>(place));
}

static void wait(std::stop_token stop)
{
	std::unique_lock<ipcwait::mutex> guard(lock);

	waits = true;
	CHECK(ready().wait(guard, stop, [] { return open_; }));
	stopped_late = stop.stop_requested();
}

int main()
{
	new (place) condition;
	std::jthread waiter(wait);

	for (bool done = false; !done;) {
		std::lock_guard<ipcwait::mutex> guard(lock);
		done = waits;
	}
	{
		std::lock_guard<ipcwait::mutex> guard(lock);
		open_ = true;
		ready().notify_all();
		ready().~condition();
		std::memset(place, 0, sizeof(place));
		waiter.request_stop();
		for (unsigned char byte : place)
			CHECK(byte == 0);
	}
	waiter.join();
	CHECK(stopped_late);
}
#else
int main()
{
	return 77;
}
#endif
