/* SPDX-License-Identifier: MIT */
#include "queue_peers.h"

#include <string.h>

/* The library has no such queue without it. */
#ifndef HAVE_IPCWAIT_QUEUE
const struct queue_peer queue_ipcwait = {
	.name = "ipcwait",
	.nodes = "segments from a pool",
	.missing = "not built: liburcu-dev",
};
const struct queue_peer queue_ipcwait_mpsc = {
	.name = "ipcwait_mpsc",
	.nodes = "segments from a pool",
	.missing = "not built: liburcu-dev",
	.one_consumer = true,
};
#endif

#ifndef HAVE_URCU
const struct queue_peer queue_urcu_wfcq = {
	.name = "urcu_wfcq",
	.nodes = "malloc per node",
	.missing = "not built: liburcu-dev",
};
const struct queue_peer queue_urcu_lfq = {
	.name = "urcu_lfq",
	.nodes = "malloc per node",
	.missing = "not built: liburcu-dev",
};
#endif

#ifndef HAVE_BOOST
const struct queue_peer queue_boost = {
	.name = "boost",
	.nodes = "pool of nodes",
	.missing = "not built: libboost-dev",
};
const struct queue_peer queue_boost_spsc = {
	.name = "boost_spsc",
	.nodes = "array",
	.missing = "not built: libboost-dev",
	.one_to_one = true,
	.bounded = true,
};
#endif

#ifndef HAVE_MOODYCAMEL
const struct queue_peer queue_moodycamel = {
	.name = "moodycamel",
	.nodes = "pool of blocks",
	.missing = "not built: libconcurrentqueue-dev",
};
#endif

#ifndef HAVE_MOODYCAMEL_SPSC
const struct queue_peer queue_moodycamel_spsc = {
	.name = "moodycamel_spsc",
	.nodes = "blocks used again",
	.missing = "not built: libreaderwriterqueue-dev",
	.one_to_one = true,
};
#endif

#ifndef HAVE_CK
const struct queue_peer queue_ck_ring = {
	.name = "ck_ring",
	.nodes = "array",
	.missing = "not built: libck-dev",
	.bounded = true,
	.in_turn = true,
};
const struct queue_peer queue_ck_fifo = {
	.name = "ck_fifo",
	.nodes = "nodes used again",
	.missing = "not built: libck-dev",
	.one_to_one = true,
};
#endif

#ifndef HAVE_TBB
const struct queue_peer queue_tbb = {
	.name = "tbb",
	.nodes = "pages of nodes",
	.missing = "not built: libtbb-dev",
};
#endif

const struct queue_peer *const queue_peers[] = {
	&queue_ipcwait,      &queue_ipcwait_mpsc,
	&queue_ipcwait_spsc, &queue_ipcwait_spsc_unbounded,
	&queue_seed_list,    &queue_seed_cache,
	&queue_urcu_wfcq,    &queue_urcu_lfq,
	&queue_boost,        &queue_boost_spsc,
	&queue_moodycamel,   &queue_moodycamel_spsc,
	&queue_ck_ring,      &queue_ck_fifo,
	&queue_tbb,
};

const unsigned queue_peer_count = sizeof(queue_peers) / sizeof(queue_peers[0]);

const struct queue_peer *queue_peer_find(const char *name)
{
	for (unsigned i = 0; i < queue_peer_count; i++)
		if (!strcmp(queue_peers[i]->name, name))
			return queue_peers[i];
	return NULL;
}
