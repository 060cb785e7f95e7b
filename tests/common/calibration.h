/* SPDX-License-Identifier: MIT */
/* A calibration that could have been measured, for tests that need one. */
#ifndef TESTS_COMMON_CALIBRATION_H
#define TESTS_COMMON_CALIBRATION_H

#include <string.h>

#include "env/calibration_rules.h"

/* @pairs of them; B is 20000 + 10000 ns. */
static inline struct ipcwait_calibration calibration_example(unsigned pairs)
{
	struct ipcwait_calibration c;

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	c.measured_at_s = 1764000000;
	c.pause_ps = 26012;
	c.empty_wake_ns = 260;
	c.sleeper_cpu_ns = 3100;
	c.timer_ns = 60000;
	c.timer_p90_ns = 70000;
	c.counter_offset_ns = -12;
	c.counter_one_way = 1;
	c.samples_used = 400;
	c.samples_discarded = 7;
	c.pair_count = pairs;
	for (unsigned i = 0; i < pairs; i++) {
		c.pair[i].distance = IPCWAIT_DISTANCE_L3;
		c.pair[i].cpu_a = i;
		c.pair[i].cpu_b = i + 1;
		c.pair[i].line_ns = 111;
		for (unsigned k = 0; k < IPCWAIT_IDLE_AGES; k++)
			c.pair[i].latency[k] = (struct ipcwait_wake_latency){
				.idle_ns = iw_idle_ages[k],
				.p10_ns = 19000,
				.median_ns = 20000,
				.p90_ns = 30000,
				.waker_ns = 10000,
				.used = 32,
				.discarded = k,
			};
	}
	return c;
}

#endif
