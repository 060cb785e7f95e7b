/* SPDX-License-Identifier: MIT */
#include "place.h"
#include "complain.h"
#include "cpu_list.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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
		if (most)
			list[0] = 0;
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

int place_thread(pthread_t thread, const unsigned *cpus, unsigned n)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	int r;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	for (unsigned i = 0; i < n; i++)
		CPU_SET_S(cpus[i], size, set);
	r = -pthread_setaffinity_np(thread, size, set);
	CPU_FREE(set);
	return r;
}

void place_on(const unsigned *cpus, unsigned n)
{
	int r = place_thread(pthread_self(), cpus, n);

	if (r)
		give_up("cannot stay on CPU %u: %s", cpus[0], strerror(-r));
}

void place_apart(const unsigned *cpus, unsigned n)
{
	if (sched_getcpu() == (int)cpus[0])
		return;
	place_on(cpus, 1);
	place_on(cpus, n);
}

int place_same_core(unsigned a, unsigned b)
{
	char path[80], list[1024];
	FILE *f;
	bool read;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", a);
	f = fopen(path, "re");
	if (!f)
		return -1;
	read = fgets(list, sizeof(list), f);
	fclose(f);
	return read ? cpu_list_has(list, b) : -1;
}

void place_two_cores(unsigned *cpus, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		unsigned other = cpus[i];

		if (place_same_core(cpus[0], other) == 1)
			continue;
		cpus[i] = cpus[1];
		cpus[1] = other;
		return;
	}
}
