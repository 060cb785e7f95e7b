/* SPDX-License-Identifier: MIT */
/*
 * libipcwait for C++17 and later: what <mutex>, <shared_mutex>, <condition_variable>, <semaphore>,
 * <latch> and <barrier> have, with the same names and members, so that a program that is written
 * against std:: is ported by
 *
 *	namespace mt = ipcwait;               // was: namespace mt = std;
 *
 * Semaphores, latch and barrier are here in C++17 too; waits with a std::stop_token where the
 * library has it (C++20). The locks, std::unique_lock and the others, are the standard's own.
 *
 * No object allocates anything (notify_all_at_thread_exit() does), each is constant-initialised,
 * and may be placed in memory that processes share, unless it was made with private_; a once_flag
 * may not. Those made with it, as in `ipcwait::mutex lock(ipcwait::private_);`, belong to one process. native_handle()
 * is the C object. Destructors do not end objects, which own nothing, and in shared memory may
 * outlive the process; but those of condition variables do, see condition_variable.hpp.
 *
 * Errors are std::system_error with the errno value in std::generic_category() (std::abort() without
 * exceptions), where the standard lets nothing happen too: too many tokens or arrivals, the unlock of what is not locked.
 *
 * Deadlines of clocks other than CLOCK_MONOTONIC (std::chrono::steady_clock on Linux) follow that
 * clock: set forward beyond the deadline it ends the wait within 100 ms, set back it prolongs it.
 * From C++20 on the type must be a clock (std::chrono::is_clock_v), as for the standard's waits.
 */
#ifndef IPCWAIT_IPCWAIT_HPP
#define IPCWAIT_IPCWAIT_HPP

#include <ipcwait/barrier.hpp>
#include <ipcwait/condition_variable.hpp>
#include <ipcwait/ipcwait.h>
#include <ipcwait/latch.hpp>
#include <ipcwait/mutex.hpp>
#include <ipcwait/semaphore.hpp>
#include <ipcwait/shared_mutex.hpp>

#endif
