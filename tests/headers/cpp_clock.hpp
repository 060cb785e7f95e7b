/* SPDX-License-Identifier: MIT */
/* A clock that goes on by a step, of 100 us, each time that it is asked. Of one thread. */
#ifndef CPP_CLOCK_HPP
#define CPP_CLOCK_HPP

#include <chrono>
#include <functional>

struct step_clock {
	using duration = std::chrono::microseconds;
	using rep = duration::rep;
	using period = duration::period;
	using time_point = std::chrono::time_point<step_clock>;

	static constexpr bool is_steady = false;

	static time_point now()
	{
		steps++;
		if (each)
			each(steps);
		return in(0);
	}

	/* From its beginning on, where @f is called with the number of each step. */
	static void begin(std::function<void(int)> f = nullptr)
	{
		steps = 0;
		each = std::move(f);
	}
	static time_point in(int more)
	{
		return time_point(duration(100 * (steps + more)));
	}
	static bool passed(int step)
	{
		return steps >= step;
	}

	static inline int steps;
	static inline std::function<void(int)> each;
};

#endif
