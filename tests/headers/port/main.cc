/* SPDX-License-Identifier: MIT */
#include "port.hpp"

int main()
{
	for (auto scene : { mutexes, timed_mutexes, once, shared_mutexes, semaphores,
			    latches, barriers, barrier_drops, conditions, any_conditions,
			    stop_tokens, thread_exits, constants })
		scene();
	return 0;
}
