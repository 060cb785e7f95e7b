/* SPDX-License-Identifier: MIT */
#include "place.h"
#include "complain.h"

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

/* Is @cpu in a list like "0,8" or "0-1,8-9"? */
static bool is_listed(const char *list, unsigned cpu)
{
	for (;;) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			return false;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (first <= cpu && cpu <= last)
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
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
	return read ? is_listed(list, b) : -1;
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

void place_count(struct place_tally *t, int cpu)
{
	if (cpu >= 0 && cpu < PLACE_TALLY_CPUS)
		t->seen[cpu]++;
}

int place_most_on(const struct place_tally *t)
{
	uint64_t most = 0;
	int on = -1;

	for (int cpu = 0; cpu < PLACE_TALLY_CPUS; cpu++)
		if (t->seen[cpu] > most) {
			most = t->seen[cpu];
			on = cpu;
		}
	return on;
}
