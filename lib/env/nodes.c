/* SPDX-License-Identifier: MIT */
#include "env/nodes.h"
#include "env/topology.h"
#include "os/file.h"

/* A page, which is as long as these files get. */
#define LIST_BYTES 4096

uint32_t iw_nodes(uint32_t most)
{
	struct iw_cpu_mask nodes = { { 0 } };
	char list[LIST_BYTES];
	uint32_t n = 1;

	if (iw_file_read("/sys/devices/system/node/online", list, sizeof(list)) <= 0 ||
	    !iw_topology_parse_list(list, &nodes))
		return 1;
	for (uint32_t i = 0; i < IW_CPU_MOST && i < most; i++)
		if (iw_cpu_mask_has(&nodes, i))
			n = i + 1;
	return n;
}
