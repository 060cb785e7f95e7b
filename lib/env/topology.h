/* SPDX-License-Identifier: MIT */
/*
 * Which CPUs share what. Read when a calibration asks, from hwloc if the library was built
 * with it and finds it, else from /sys; 3 ms. Never on a wait path, and nothing is kept.
 */
#ifndef IW_ENV_TOPOLOGY_H
#define IW_ENV_TOPOLOGY_H

#include <stdbool.h>

#include <ipcwait/calibration.h>

#include "os/cpu_mask.h"

struct iw_cpu_pair {
	unsigned cpu_a, cpu_b;
	enum ipcwait_distance distance;
};

/* The CPUs with which one CPU shares its core, its caches and its package. */
struct iw_neighbours {
	struct iw_cpu_mask
		sharing[IPCWAIT_DISTANCE_OTHER]; /* by distance; UNKNOWN unused */
};

/*
 * One pair of each distance among @allowed, all with its first CPU. First a pair with a
 * common last-level cache, if there is one: within it the kernel places threads that wake
 * each other. Then by distance. Returns their number, 0 if there are no two CPUs.
 */
unsigned iw_topology_pairs(const struct iw_cpu_mask *allowed,
			   struct iw_cpu_pair pairs[IPCWAIT_CALIBRATION_PAIRS]);

/* UNKNOWN where nothing tells. */
enum ipcwait_distance iw_topology_distance(unsigned cpu_a, unsigned cpu_b);

/* The two sources. False if this one knows nothing about @cpu. */
bool iw_topology_from_hwloc(unsigned cpu, struct iw_neighbours *n);
bool iw_topology_from_sysfs(unsigned cpu, struct iw_neighbours *n);

/* The kernel's form "0-3,8": adds to @mask; false at the first thing that is not. */
bool iw_topology_parse_list(const char *list, struct iw_cpu_mask *mask);

/* The choice by itself, for tests: @n is about the first CPU of @allowed, or NULL. */
unsigned iw_topology_choose(const struct iw_neighbours *n,
			    const struct iw_cpu_mask *allowed,
			    struct iw_cpu_pair pairs[IPCWAIT_CALIBRATION_PAIRS]);

#endif
