/* SPDX-License-Identifier: MIT */
/*
 * Processes work on shared objects and are killed at random. Each says in its intent what it is
 * about to do, so that the books can be kept for the dead; every now and then all the living
 * stop, and the books have to agree with the objects.
 */
#ifndef TESTS_IPC_STORM_H
#define TESTS_IPC_STORM_H

#include "region.h"

#define STORM_WORKERS 10

struct storm {
	const char *name;

	/* Set the objects up. */
	void (*begin)(struct region *r);

	/* Work until r->stop is set. In a process, with the number of its intent. */
	void (*work)(struct region *r, unsigned slot);

	/* The worker with that intent was killed. */
	void (*bury)(struct region *r, unsigned slot);

	/* The last thing that happens before some of the workers die together. */
	void (*stir)(struct region *r);

	/* r->stop is set: bring everybody home who still sleeps, and check the books. */
	void (*audit)(struct region *r);
};

extern const struct storm futex_storm, mutex_storm, sem_storm;

/* In a worker: for the choices that it makes. */
uint64_t storm_seed(void);

/* In a worker: the next thing that it will do. */
void storm_intend(struct intent *intent, uint32_t step);

/*
 * For audits: wait until each worker has ended, or sleeps in a wait without a deadline. Returns
 * the number of those that do and whose intent is to take from semaphore @from; -1: from any.
 */
unsigned storm_asleep(const struct region *r, int from);

#endif
