/* SPDX-License-Identifier: MIT */
/* What every use of abseil's mutex here needs. */
#ifndef BENCH_ABSEIL_MUTEX_H
#define BENCH_ABSEIL_MUTEX_H

#include <absl/synchronization/mutex.h>

/*
 * Debian compiles abseil without NDEBUG, which makes every lock of every mutex look for
 * deadlocks in a graph. Nobody who measures has that on, so it is off here.
 */
inline void abseil_as_released()
{
	absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

#endif
