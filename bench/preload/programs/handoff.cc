/* SPDX-License-Identifier: MIT */
/*
 * handoff_cpp WORKLOAD SECONDS: two threads in turn, by means of C++20. An operation is a round
 * trip.
 */
#include "meter.h"

#include <atomic>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <string>
#include <thread>

namespace
{

bool stop; /* written before the last hand-off */

struct Semaphore {
	std::counting_semaphore<> sem[2]{ std::counting_semaphore<>(0),
					  std::counting_semaphore<>(0) };

	void hand(unsigned self)
	{
		sem[!self].release();
	}

	void take(unsigned self)
	{
		sem[self].acquire();
	}
};

struct AtomicWait {
	std::atomic<int> may_go[2] = { 0, 0 };

	void hand(unsigned self)
	{
		may_go[!self].store(1, std::memory_order_release);
		may_go[!self].notify_one();
	}

	void take(unsigned self)
	{
		may_go[self].wait(0, std::memory_order_acquire);
		may_go[self].store(0, std::memory_order_relaxed);
	}
};

struct Condition {
	std::mutex mutex;
	std::condition_variable cond[2];
	bool may_go[2] = { false, false };

	void hand(unsigned self)
	{
		std::lock_guard<std::mutex> held(mutex);
		may_go[!self] = true;
		cond[!self].notify_one();
	}

	void take(unsigned self)
	{
		std::unique_lock<std::mutex> held(mutex);
		cond[self].wait(held, [&] { return may_go[self]; });
		may_go[self] = false;
	}
};

/*
 * A latch is good for once: each side waits for four of its own by turns. The other side makes
 * the one after the next anew before it opens the next, when nobody can be in it any more.
 */
struct Latch {
	static constexpr unsigned TURNS = 4;

	struct Side {
		std::unique_ptr<std::latch> latch[TURNS];
		unsigned opened = 0, waited = 0;
	} side[2];

	Latch()
	{
		for (Side &s : side)
			for (auto &latch : s.latch)
				latch = std::make_unique<std::latch>(1);
	}

	void hand(unsigned self)
	{
		Side &s = side[!self];
		std::latch *spare = s.latch[(s.opened + 1) % TURNS].get();

		spare->~latch();
		new (spare) std::latch(1);
		s.latch[s.opened++ % TURNS]->count_down();
	}

	void take(unsigned self)
	{
		Side &s = side[self];

		s.latch[s.waited++ % TURNS]->wait();
	}
};

template <class Way> int measure(double seconds)
{
	auto way = std::make_unique<Way>();
	struct meter m;
	bool on = true;

	std::thread other([&] {
		bool last;

		do {
			way->take(1);
			last = stop;
			way->hand(1);
		} while (!last);
	});
	meter_start(&m, seconds, 16);
	while (on) {
		way->hand(0);
		way->take(0);
		on = meter_on(&m);
	}
	stop = true;
	way->hand(0);
	way->take(0);
	other.join();
	return meter_show(m.operations, m.seconds);
}

} /* namespace */

int main(int argc, char **argv)
{
	const double seconds = meter_seconds(argc, argv);
	const std::string name = seconds > 0 ? argv[1] : "";

	if (name == "semaphore")
		return measure<Semaphore>(seconds);
	if (name == "atomic")
		return measure<AtomicWait>(seconds);
	if (name == "latch")
		return measure<Latch>(seconds);
	if (name == "condition")
		return measure<Condition>(seconds);
	return meter_usage("semaphore, atomic, latch, condition");
}
