/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <stdint.h>

/* Steps of clock_work() that take so long. Calibrated at the first call in a process. */
uint64_t work_steps(int64_t ns);

#endif
