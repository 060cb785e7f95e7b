/* SPDX-License-Identifier: MIT */
#ifndef IW_ENV_NODES_H
#define IW_ENV_NODES_H

#include <stdint.h>

/* NUMA nodes of the machine, at least 1 and at most @most. Some 10 us. */
uint32_t iw_nodes(uint32_t most);

#endif
