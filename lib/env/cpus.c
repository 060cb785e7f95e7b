/* SPDX-License-Identifier: MIT */
#include "env/cpus.h"
#include "os/cpu.h"

uint32_t iw_cpus_usable(void)
{
	return iw_cpu_allowed(false).count;
}

uint32_t iw_cpus_process(void)
{
	uint32_t own = iw_cpus_usable(), main = iw_cpu_allowed(true).count;

	return own > main ? own : main ? main : 1;
}
