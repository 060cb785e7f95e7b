/* SPDX-License-Identifier: MIT */
#include "cpus.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>

/* More than any machine has; sched_getaffinity() fails if the set is too small for it. */
#define CPUS_MAX 16384

unsigned cpus_usable(unsigned *list, unsigned most)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	unsigned n = 0;

	if (!set || sched_getaffinity(0, size, set)) {
		CPU_FREE(set);
		return 1;
	}
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
		if (CPU_ISSET_S(cpu, size, set)) {
			if (n < most)
				list[n] = cpu;
			n++;
		}
	CPU_FREE(set);
	return n;
}

int cpus_pin(pthread_t thread, unsigned cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int r;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	r = pthread_setaffinity_np(thread, size, set);
	CPU_FREE(set);
	return -r;
}
