/* SPDX-License-Identifier: MIT */
/* Time and CPU time, and keeping a CPU busy for a given time. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int64_t clock_now_ns(void);

/* CPU time of the calling thread, and of its process: user and system. */
int64_t clock_thread_cpu_ns(void);
int64_t clock_process_cpu_ns(void);

/* What two readings of the clock in a row lie apart, the median of many. */
int64_t clock_cost_ns(void);

/* Busy until then. For threads that nobody else takes the CPU from. */
void clock_burn_until(int64_t until_ns);

/*
 * Busy for a number of steps, each of which needs the result of the one before. For threads
 * that share a CPU: time in which they do not run is not work done. Return: use it.
 */
uint64_t clock_work(uint64_t x, uint64_t steps) __attribute__((warn_unused_result));

/* Steps that take a microsecond. */
uint64_t clock_steps_per_us(void);

#ifdef __cplusplus
}
#endif

#endif
