/* SPDX-License-Identifier: MIT */
#include <atomic>
#include <deque>

#include "port.hpp"

/* A buffer with room for three, and the sum of what went through it. */
static void pass_through_buffer()
{
	constexpr int each = 3000;
	mt::counting_semaphore<3> room(3), items(0);
	mt::mutex lock;
	std::deque<int> buffer;
	std::atomic<long> sum{ 0 };

	in_threads(4, [&](int i) {
		for (int k = 1; k <= each; k++) {
			if (i < 2) {
				room.acquire();
				mt::lock_guard guard(lock);
				buffer.push_back(k);
				if (buffer.size() > 3)
					std::abort();
				items.release();
			} else {
				items.acquire();
				mt::lock_guard guard(lock);
				sum += buffer.front();
				buffer.pop_front();
				room.release();
			}
		}
	});
	std::printf("counting_semaphore: %ld\n", sum.load());
}

static mt::binary_semaphore to_worker{ 0 }, to_main{ 0 };

void semaphores()
{
	mt::counting_semaphore three(3);
	int turns = 0;

	pass_through_buffer();
	std::thread worker([&] {
		for (int i = 0; i < 2000; i++) {
			to_worker.acquire();
			turns++;
			to_main.release();
		}
	});
	for (int i = 0; i < 2000; i++) {
		to_worker.release();
		to_main.acquire();
	}
	worker.join();
	std::printf("binary_semaphore: %d turns, most %td and %td\n", turns,
		    mt::binary_semaphore::max(), mt::counting_semaphore<10>::max());
	std::printf("try_acquire: %d %d %d %d\n", three.try_acquire(),
		    three.try_acquire_for(LONG),
		    three.try_acquire_until(std::chrono::system_clock::now() + LONG),
		    three.try_acquire());
	std::printf("... empty: %d %d %d\n", three.try_acquire_for(SHORT),
		    three.try_acquire_until(std::chrono::system_clock::now() + SHORT),
		    three.try_acquire_until(std::chrono::steady_clock::now() + SHORT));
	std::thread late([&] { std::printf("late: %d\n", three.try_acquire_for(LONG)); });
	std::this_thread::sleep_for(SHORT);
	three.release(2);
	late.join();
	std::printf("left: %d\n", three.try_acquire());
}

void latches()
{
	int done[6] = {};
	mt::latch work(6), away(1);

	std::printf("latch: %d", work.try_wait());
	std::thread all([&] {
		in_threads(5, [&](int i) {
			done[i] = i;
			work.count_down(i == 4 ? 2 : 1);
			away.wait();
		});
	});
	const mt::latch &seen = work;
	seen.wait();
	int sum = 0;
	for (int d : done)
		sum += d;
	std::printf(" %d, sum %d", work.try_wait(), sum);
	away.count_down();
	all.join();
	for (int i = 0; i < 200; i++) {
		int before = 0;
		mt::latch gate(3);

		in_threads(3, [&](int k) {
			if (k == 0)
				before++;
			gate.arrive_and_wait();
			if (before != 1)
				std::abort();
		});
	}
	std::printf("\n");
}

/*
 * Parties write, the completion reads all and writes, parties read that: plain variables, which
 * only the barrier keeps apart.
 */
void barriers()
{
	constexpr int parties = 4, phases = 2000;
	int parts[parties] = {}, sum = 0, completions = 0;
	auto collect = [&]() noexcept {
		completions++;
		if (completions % 64 == 0)
			std::this_thread::sleep_for(std::chrono::microseconds(300));
		sum = 0;
		for (int p : parts)
			sum += p;
	};
	mt::barrier all(parties, collect);

	in_threads(parties, [&](int i) {
		for (int k = 0; k < phases; k++) {
			parts[i] = k;
			if (i == 0) {
				auto mine = all.arrive();
				auto moved = std::move(mine);
				if ((k + 1) % 64 == 0)
					std::this_thread::sleep_for(
						std::chrono::microseconds(100));
				all.wait(std::move(moved));
			} else {
				all.arrive_and_wait();
			}
			if (completions != k + 1 || sum != parties * k)
				std::abort();
		}
	});
	std::printf("barrier: %d completions, %d\n", completions, sum);

	mt::barrier alone(3);
	auto two = alone.arrive(2);
	auto third = alone.arrive();
	alone.wait(std::move(two));
	alone.wait(std::move(third));
	std::printf("barrier: arrived for others\n");
}

/* Each leaves after another number of phases, and is counted no more when that phase ends. */
void barrier_drops()
{
	constexpr int parties = 6, rounds = 100;
	int ended = 0, together = 0;

	for (int r = 0; r < rounds; r++) {
		int here = parties;
		auto count = [&]() noexcept {
			ended++;
			together += here;
		};
		mt::barrier<decltype(count)> all(parties, count);

		in_threads(parties, [&](int i) {
			for (int k = 0; k < i; k++)
				all.arrive_and_wait();
			here--;
			all.arrive_and_drop();
		});
	}
	std::printf("barrier: %d phases of those that leave, %d together\n", ended,
		    together);
}
