/* SPDX-License-Identifier: MIT */
/*
 * Programs that are written against std::, and say in this one line that they are not. Each scene
 * prints what it has seen, which must be the same both ways.
 */
#ifndef PORT_HPP
#define PORT_HPP

#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../cpp_check.hpp"

#ifdef PORTED
#include <ipcwait/ipcwait.hpp>
namespace mt = ipcwait;
#else
namespace mt = std;
#endif

/* @n threads that all do @f(number). */
template <class F> static void in_threads(int n, F f)
{
	std::vector<std::thread> threads;

	for (int i = 0; i < n; i++)
		threads.emplace_back(f, i);
	for (std::thread &t : threads)
		t.join();
}

void mutexes();
void timed_mutexes();
void once();
void shared_mutexes();
void semaphores();
void latches();
void barriers();
void barrier_drops();
void conditions();
void any_conditions();
void stop_tokens();
void thread_exits();
void constants();

#endif
