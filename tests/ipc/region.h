/* SPDX-License-Identifier: MIT */
/* Memory that several processes map, each at another address, and processes that use it. */
#ifndef TESTS_IPC_REGION_H
#define TESTS_IPC_REGION_H

#include <stdint.h>
#include <sys/types.h>

#include <ipcwait/ipcwait.h>

#define REGION_RING 64

/* Fresh memory is all zero, and so are the semaphores in it: nobody initialises them. */
struct region {
	struct ipcwait_sem items, space, done;
	uint64_t ring[REGION_RING];
	uint64_t taken, interrupted; /* counted by children */
	int64_t deadline_ns;
	int result;
	uint32_t stop;
};

/* Create it and map it here. */
struct region *region_create(void);

/* Give it up. */
void region_destroy(struct region *r);

/*
 * Run @body in a child that has mapped the region at an address of its own, and nowhere
 * else. The child dies with its parent.
 */
pid_t region_fork(struct region *r, void (*body)(struct region *r));

/* The child has ended well. */
void region_join(pid_t child);

/* Kill it, asleep or not, and see that this is what it died of. */
void region_kill(pid_t child);

/* Pass the time after which a post no longer trusts that wakes under way arrive. */
void region_let_wakes_go_stale(void);

#endif
