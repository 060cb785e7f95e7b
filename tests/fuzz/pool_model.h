/* SPDX-License-Identifier: MIT */
/*
 * What a pool is expected to do, in numbers: how many elements lie in magazines, depots and slabs.
 * docs/design/pool.md
 */
#ifndef TESTS_FUZZ_POOL_MODEL_H
#define TESTS_FUZZ_POOL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/pool.h>

#define DEPOTS_MOST 3

/* What the library is told of the world. */
struct pool_outside {
	int64_t now_ns;
	unsigned node, nodes; /* of the caller; how many there are */
	bool ends_untold;     /* a thread cannot have magazines */
};

extern struct pool_outside pool_outside;

/* Elements in a thread's two magazines. */
struct pool_cache {
	bool made;
	uint32_t hand, other;
	uint64_t exchanges;
};

/* Full magazines that lie there, and how many nobody has needed since the accounts were settled. */
struct pool_depot {
	uint32_t full, least, owed;
	int64_t settled_at;
};

struct pool_model {
	uint32_t rounds; /* elements in a magazine */
	uint64_t most;   /* elements; 0: any number */
	struct pool_depot depot[DEPOTS_MOST];
	uint64_t out; /* elements that are not in a slab */
	uint64_t exchanges_of_the_gone, refills, trimmed;
};

/* Elements of @stride bytes. */
void pool_model_begin(struct pool_model *m, const struct ipcwait_pool_params *is,
		      size_t stride);

/* Whether there is an element for the thread with @c. */
bool pool_model_get(struct pool_model *m, struct pool_cache *c);

void pool_model_put(struct pool_model *m, struct pool_cache *c);
void pool_model_trim(struct pool_model *m, struct pool_cache *c);

/* The thread ends. */
void pool_model_end(struct pool_model *m, const struct pool_cache *c);

/* With the magazines of one thread; all but the bytes. */
struct ipcwait_pool_stats pool_model_stats(const struct pool_model *m,
					   const struct pool_cache *c);

#endif
