/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "env/topology.h"
#include "os/file.h"

/* A page, which is as long as these files get. */
#define LIST_BYTES 4096

/* More caches than any CPU has. */
#define CACHES 10

static bool take_cpu(const char **at, unsigned *cpu)
{
	const char *p = *at;

	for (*cpu = 0; *p >= '0' && *p <= '9'; p++) {
		*cpu = *cpu * 10 + (unsigned)(*p - '0');
		if (*cpu >= IW_CPU_MOST)
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	return true;
}

bool iw_topology_parse_list(const char *list, struct iw_cpu_mask *mask)
{
	unsigned from, to;

	do {
		if (!take_cpu(&list, &from))
			return false;
		to = from;
		if (*list == '-' && (list++, !take_cpu(&list, &to)))
			return false;
		for (; from <= to; from++)
			iw_cpu_mask_add(mask, from);
	} while (*list == ',' && list++);
	return *list == '\0' || *list == '\n';
}

static bool read_list(unsigned cpu, const char *name, struct iw_cpu_mask *mask)
{
	char path[128], list[LIST_BYTES];

	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
	return iw_file_read(path, list, sizeof(list)) > 0 &&
	       iw_topology_parse_list(list, mask);
}

static void read_cache(unsigned cpu, unsigned index, struct iw_neighbours *n)
{
	char path[128], level[8], name[64];

	(void)snprintf(path, sizeof(path),
		       "/sys/devices/system/cpu/cpu%u/cache/index%u/level", cpu, index);
	(void)snprintf(name, sizeof(name), "cache/index%u/shared_cpu_list", index);
	(void)iw_file_read(path, level, sizeof(level));
	if (strcmp(level, "2\n") == 0)
		(void)read_list(cpu, name, &n->sharing[IPCWAIT_DISTANCE_L2]);
	else if (strcmp(level, "3\n") == 0)
		(void)read_list(cpu, name, &n->sharing[IPCWAIT_DISTANCE_L3]);
}

bool iw_topology_from_sysfs(unsigned cpu, struct iw_neighbours *n)
{
	for (unsigned i = 0; i < CACHES; i++)
		read_cache(cpu, i, n);
	return read_list(cpu, "topology/thread_siblings_list",
			 &n->sharing[IPCWAIT_DISTANCE_CORE]) &&
	       read_list(cpu, "topology/core_siblings_list",
			 &n->sharing[IPCWAIT_DISTANCE_PACKAGE]);
}
