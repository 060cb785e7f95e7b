/* SPDX-License-Identifier: MIT */
/* In place of topology_hwloc.c where the library is built without hwloc. */
#include "env/topology.h"

bool iw_topology_from_hwloc(unsigned cpu, struct iw_neighbours *n)
{
	(void)cpu;
	(void)n;
	return false;
}
