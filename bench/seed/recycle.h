/* SPDX-License-Identifier: MIT */
/*
 * What recycle_test measures: buffers that go back to their pool, or into a channel, and tokens of
 * semaphores.
 */
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

/* How many a take found, in a column for each power of two: 1, 2..3, ... 2048..4095, 4096. */
#define TAKES_COLUMNS 13

struct takes {
	uint64_t count, empty, columns[TAKES_COLUMNS];
};

void takes_add(struct takes *t, uint64_t found);
void takes_write(const struct takes *t, struct json *j);

/* All write their figures. Return: an exit status. */
int recycle_pool(const struct recycle *r, struct json *j);
int recycle_channel(const struct recycle *r, struct json *j);
int recycle_post(const struct recycle *r, struct json *j);

/* Prints what they can be asked for. */
void recycle_pool_list(void);
void recycle_channel_list(void);
void recycle_post_list(void);

/* NULL if there is a pool lock, a channel, or a semaphore, of this name, else why not. */
const char *recycle_pool_refuses(const char *how);
const char *recycle_channel_refuses(const char *how);
const char *recycle_post_refuses(const char *how);

#endif
