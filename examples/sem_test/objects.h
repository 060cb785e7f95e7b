/* SPDX-License-Identifier: MIT */
/*
 * What libipcwait counts of each semaphore, by name: --objects. A semaphore with a name is counted
 * always, which costs a hand-off some ns; so it has none without the option.
 */
#ifndef SEM_TEST_OBJECTS_H
#define SEM_TEST_OBJECTS_H

#include "rows.h"

#define OBJECTS 2

/* Of one semaphore, in the order of <ipcwait/stats.h>, where each is explained. */
struct object_cost {
	uint64_t waits;
	uint64_t gave_up;
	uint64_t slept;
	uint64_t spun_useful_ns;
	uint64_t spun_wasted_ns;
	uint64_t slept_ns;
};

extern const char *const object_names[OBJECTS];

/* They get their names, and @costs what was counted before. 0 or a negative errno value. */
int objects_begin(const struct sem_ops *ops, struct sem_room *const sems[OBJECTS],
		  struct object_cost costs[OBJECTS]);

/* What has been counted since, and counting ends. */
int objects_end(const struct sem_ops *ops, struct sem_room *const sems[OBJECTS],
		struct object_cost costs[OBJECTS]);

#endif
