/* SPDX-License-Identifier: MIT */
#include "work.h"
#include "../common/clock.h"

uint64_t work_steps(int64_t ns)
{
	static uint64_t per_us;

	if (!per_us)
		per_us = clock_steps_per_us();
	return per_us * (uint64_t)ns / 1000;
}
