/* SPDX-License-Identifier: MIT */
/*
 * Where the objects of a pool come from: slabs, pieces of memory that are cut into objects of one
 * size and go back to the system when all of theirs have come back. Under a lock, which is taken
 * for a magazine of objects at a time.
 */
#ifndef IW_QUEUE_SLAB_H
#define IW_QUEUE_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include <ipcwait/mutex.h>

#include "queue/list.h"

struct iw_slab;

struct iw_slabs {
	/* How a slab is cut up. */
	size_t stride;     /* from object to object */
	size_t first;      /* where the first begins */
	size_t slab_bytes; /* and at a multiple of that it lies */
	uint32_t per_slab;
	uint64_t most; /* objects that may be out */

	struct ipcwait_mutex lock;
	struct iw_link *all;
	struct iw_link *some; /* those that have objects to give */
	struct iw_slab *idle; /* one that has all of its own, kept for the next who asks */
	uint64_t slabs;       /* how many there are ... */
	uint64_t unmapped;    /* ... and were */
	uint64_t out;         /* objects that are not in a slab */
};

/* @align: a power of two; @most: 0 for no bound. */
void iw_slabs_init(struct iw_slabs *s, size_t elem_bytes, size_t align, uint64_t most);

/* At most @n objects. Fewer: there is no memory, or so many are out already. */
uint32_t iw_slabs_take(struct iw_slabs *s, void **objects, uint32_t n);

void iw_slabs_give(struct iw_slabs *s, void *const *objects, uint32_t n);

/* Gives back what is kept for the next who asks. */
void iw_slabs_trim(struct iw_slabs *s);

/* All memory, whatever is out. */
void iw_slabs_free(struct iw_slabs *s);

#endif
