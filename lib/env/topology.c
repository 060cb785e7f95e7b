/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "env/topology.h"

static enum ipcwait_distance distance_to(const struct iw_neighbours *n, unsigned cpu)
{
	for (unsigned d = IPCWAIT_DISTANCE_CORE; d < IPCWAIT_DISTANCE_OTHER; d++)
		if (iw_cpu_mask_has(&n->sharing[d], cpu))
			return (enum ipcwait_distance)d;
	return IPCWAIT_DISTANCE_OTHER;
}

static bool read_neighbours(unsigned cpu, struct iw_neighbours *n)
{
	memset(n, 0, sizeof(*n));
	if (iw_topology_from_hwloc(cpu, n))
		return true;
	memset(n, 0, sizeof(*n));
	return iw_topology_from_sysfs(cpu, n);
}

enum ipcwait_distance iw_topology_distance(unsigned cpu_a, unsigned cpu_b)
{
	struct iw_neighbours n;

	return read_neighbours(cpu_a, &n) ? distance_to(&n, cpu_b)
					  : IPCWAIT_DISTANCE_UNKNOWN;
}

/* The CPU after @cpu in the mask, IW_CPU_MOST if there is none; begin with -1. */
static unsigned next_cpu(const struct iw_cpu_mask *mask, unsigned cpu)
{
	do
		cpu++;
	while (cpu < IW_CPU_MOST && !iw_cpu_mask_has(mask, cpu));
	return cpu;
}

/* @found has the nearest CPU of each distance, 0 for none: the first CPU is never found. */
static unsigned in_order(unsigned first, const unsigned *found, struct iw_cpu_pair *pairs)
{
	static const enum ipcwait_distance order[] = {
		IPCWAIT_DISTANCE_L3,    IPCWAIT_DISTANCE_L2,   IPCWAIT_DISTANCE_PACKAGE,
		IPCWAIT_DISTANCE_OTHER, IPCWAIT_DISTANCE_CORE, IPCWAIT_DISTANCE_UNKNOWN,
	};
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (found[order[i]] && n < IPCWAIT_CALIBRATION_PAIRS)
			pairs[n++] =
				(struct iw_cpu_pair){ first, found[order[i]], order[i] };
	return n;
}

unsigned iw_topology_choose(const struct iw_neighbours *n,
			    const struct iw_cpu_mask *allowed,
			    struct iw_cpu_pair pairs[IPCWAIT_CALIBRATION_PAIRS])
{
	unsigned found[IPCWAIT_DISTANCE_OTHER + 1] = { 0 };
	unsigned first = next_cpu(allowed, -1u);

	for (unsigned cpu = first; cpu < IW_CPU_MOST; cpu = next_cpu(allowed, cpu)) {
		unsigned d = n ? distance_to(n, cpu) : IPCWAIT_DISTANCE_UNKNOWN;

		if (cpu != first && !found[d])
			found[d] = cpu;
	}
	return in_order(first, found, pairs);
}

unsigned iw_topology_pairs(const struct iw_cpu_mask *allowed,
			   struct iw_cpu_pair pairs[IPCWAIT_CALIBRATION_PAIRS])
{
	unsigned first = next_cpu(allowed, -1u);
	struct iw_neighbours n;

	if (first == IW_CPU_MOST)
		return 0;
	return iw_topology_choose(read_neighbours(first, &n) ? &n : NULL, allowed, pairs);
}
