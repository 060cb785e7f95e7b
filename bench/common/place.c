/* SPDX-License-Identifier: MIT */
#include "place.h"
#include "complain.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* More than any machine has; sched_getaffinity() fails if the set is too small for it. */
#define CPUS_MAX 16384

unsigned place_cpus(unsigned *list, unsigned most)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	unsigned n = 0;

	if (!set || sched_getaffinity(0, size, set)) {
		CPU_FREE(set);
		return 0;
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

void place_on(const unsigned *cpus, unsigned n)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);

	if (!set)
		give_up("no memory");
	CPU_ZERO_S(size, set);
	for (unsigned i = 0; i < n; i++)
		CPU_SET_S(cpus[i], size, set);
	if (sched_setaffinity(0, size, set))
		give_up("cannot stay on CPU %u: %s", cpus[0], strerror(errno));
	CPU_FREE(set);
}

void place_apart(const unsigned *cpus, unsigned n)
{
	if (sched_getcpu() == (int)cpus[0])
		return;
	place_on(cpus, 1);
	place_on(cpus, n);
}
