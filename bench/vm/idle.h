/* SPDX-License-Identifier: MIT */
/* How often and how long the CPUs were in each idle state, from the kernel's cpuidle. */
#ifndef BENCH_VM_IDLE_H
#define BENCH_VM_IDLE_H

#include "../../tools/common/json_writer.h"

#include <stdbool.h>

/* Of all CPUs: 100 CPUs with ten each. */
#define IDLE_STATES_MOST 1024

struct idle_state {
	unsigned cpu;
	unsigned state;
	char name[24];
	uint64_t usage;
	uint64_t time_us;
	uint64_t above; /* the state was too deep */
	uint64_t below; /* a deeper one would have done */
};

struct idle_states {
	unsigned n; /* 0: the kernel has no cpuidle driver, and counts nothing */
	bool cut;   /* there are more than IDLE_STATES_MOST */
	struct idle_state state[IDLE_STATES_MOST];
};

void idle_read(struct idle_states *s);

/*
 * The change since @before as the list "idle_states", null where nothing is counted. If it is not
 * all of them, "idle_states_cut" says so.
 */
void idle_write_since(struct json *j, const struct idle_states *before);

#endif
