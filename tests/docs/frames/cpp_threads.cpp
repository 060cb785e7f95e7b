/* SPDX-License-Identifier: MIT */
/*
 * The worker of the fragment gets one job. The header is here because the fragment includes it
 * within main().
 */
#include <ipcwait/ipcwait.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

static std::deque<int> jobs;
static int ran;

static void run(std::deque<int> &jobs)
{
	ran += jobs.front();
	jobs.pop_front();
}

int main()
{
	/* @BLOCK@ */

	{
		mt::unique_lock guard(lock);
		jobs.push_back(7);
	}
	ready.notify_one();
	worker.join();
	return ran == 7 ? 0 : 1;
}
