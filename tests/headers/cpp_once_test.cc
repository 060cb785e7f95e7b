/* SPDX-License-Identifier: MIT */
/* <ipcwait/once.h> in C++: an exception leaves the function, and gets to the caller. */
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <ipcwait/once.h>

#include "cpp_check.hpp"

static constexpr int WAITERS = 4;

/* Throws as often as it is told to. */
struct job {
	ipcwait_once once = IPCWAIT_ONCE_INIT;
	int throws = 1;
	int runs = 0; /* plain on purpose: the once is what keeps the threads apart */
	bool crowded = false;
	std::atomic<int> caught{ 0 }, returned{ 0 };

	bool sleeps() const
	{
		return __atomic_load_n(&once.word.v, __ATOMIC_RELAXED) & 1;
	}
};

template <class F> static void await(F there)
{
	const auto end = std::chrono::steady_clock::now() + LONG;

	while (!there()) {
		CHECK(std::chrono::steady_clock::now() < end);
		std::this_thread::sleep_for(std::chrono::microseconds(50));
	}
}

static int run(void *arg)
{
	job &j = *static_cast<job *>(arg);
	const std::string text = "run " + std::to_string(++j.runs);

	if (j.crowded)
		await([&] { return j.sleeps(); });
	if (j.runs <= j.throws)
		throw std::runtime_error(text);
	return 0;
}

/* True if it has been thrown at. */
static bool is_left(job &j)
{
	try {
		CHECK(ipcwait_once_run(&j.once, run, &j) == 0);
	} catch (const std::runtime_error &e) {
		CHECK(j.crowded || e.what() == "run " + std::to_string(j.runs));
		return true;
	}
	return false;
}

static void test_thrown_at(unsigned flags)
{
	job j;

	j.throws = 3;
	CHECK(ipcwait_once_init(&j.once, flags) == 0);
	for (int i = 1; i <= 3; i++) {
		CHECK(is_left(j) && j.runs == i);
		CHECK(j.once.word.v == 0);
	}
	CHECK(!is_left(j) && j.runs == 4);
	CHECK(!is_left(j) && j.runs == 4);
	CHECK(ipcwait_once_fini(&j.once) == 0);
}

/* Who is thrown at lives on, and is no reason to wait. */
static void call(job &j, int callers)
{
	if (is_left(j)) {
		j.caught++;
		await([&] { return j.caught + j.returned == callers; });
	} else {
		CHECK(j.runs == j.throws + 1);
		j.returned++;
	}
}

static void test_waited_for(unsigned flags, int throws)
{
	const int callers = WAITERS + 1;
	std::vector<std::thread> threads;
	job j;

	j.throws = throws;
	j.crowded = true;
	CHECK(ipcwait_once_init(&j.once, flags) == 0);
	for (int i = 0; i < callers; i++)
		threads.emplace_back([&] { call(j, callers); });
	for (std::thread &t : threads)
		t.join();
	CHECK(j.caught == throws && j.returned == callers - throws);
	CHECK(j.runs == throws + 1);
}

int main()
{
	for (unsigned flags : { 0u, unsigned(IPCWAIT_PRIVATE) }) {
		test_thrown_at(flags);
		for (int i = 0; i < 20; i++) {
			test_waited_for(flags, 1);
			test_waited_for(flags, WAITERS - 1);
		}
	}
	return 0;
}
