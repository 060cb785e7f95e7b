/* SPDX-License-Identifier: MIT */
/* What recycle_test measures: buffers that go back to their pool, and tokens of semaphores. */
#ifndef SEED_RECYCLE_H
#define SEED_RECYCLE_H

#include "../../tools/common/json_writer.h"
#include "../peers/lock_peer.h"

#include <stdint.h>

#define BATCH_MOST 1024
#define BUFFERS    4096 /* of the pool: the seed's ring */

struct recycle {
	const char *how;
	uint64_t items, give, take; /* take 0: all that are there */
};

/* Both write their figures. Return: an exit status. */
int recycle_pool(const struct recycle *r, struct json *j);
int recycle_post(const struct recycle *r, struct json *j);

/* Prints what the two can be asked for. */
void recycle_pool_list(void);
void recycle_post_list(void);

/* Is there a pool lock, or a semaphore, of this name? If not, NULL, or why it is not built. */
const char *recycle_pool_refuses(const char *how);
const char *recycle_post_refuses(const char *how);

#endif
