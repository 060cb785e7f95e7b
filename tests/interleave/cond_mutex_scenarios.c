/* SPDX-License-Identifier: MIT */
/* Condition variables with the real mutex, of each kind. */
#include <ipcwait/cond.h>

#include "common/cond_word.h"
#include "interleave/cond_roles.h"

#define COMMON                                                                            \
	.begin = cond_begin, .thread = cond_thread, .end = cond_end, .always = cond_look, \
	.at_rest = cond_at_rest
#define SCRIPT .script = &(const struct cond_script)

/* A robust mutex finds out by itself. */
void cond_mutex_died(struct ipcwait_mutex *m)
{
	(void)m;
}

const struct model_scenario model_scenarios[] = {
	{ .name = "cond: plain mutex",
	  .threads = 3,
	  COMMON,
	  .about = "with sleeps of its own between",
	  SCRIPT{ .role = { WAITS, WAITS, BROADCASTS },
		  .enough = 2,
		  .spins = ENGINE_EITHER,
		  .end_frees = true },
	  .search = { .pct_depth = 4, .pct_runs = 2500 } },
	{ .name = "cond: plain mutex, one waiter",
	  .threads = 2,
	  COMMON,
	  .about = "all of it",
	  SCRIPT{ .role = { WAITS, SIGNALS_INSIDE }, .end_frees = true },
	  .patient = true,
	  .search = { .bound = 2, .weak_bound = 1, .stale = 1 } },
	{ .name = "cond: errorcheck mutex",
	  .threads = 2,
	  COMMON,
	  .about = "the same",
	  SCRIPT{ .role = { WAITS, SIGNALS },
		  .mutex_flags = IPCWAIT_ERRORCHECK,
		  .end_frees = true },
	  .patient = true,
	  .search = { .bound = 1, .pct_depth = 3, .pct_runs = 1000 } },
	{ .name = "cond: recursive mutex",
	  .threads = 3,
	  COMMON,
	  .about = "locked twice, it is free while one waits",
	  SCRIPT{ .role = { WAITS, WAITS, SIGNALS_TWICE },
		  .enough = 2,
		  .mutex_flags = IPCWAIT_RECURSIVE,
		  .end_frees = true },
	  .patient = true,
	  .search = { .pct_depth = 4, .pct_runs = 2500 } },
	{ .name = "cond: robust mutex",
	  .threads = 3,
	  COMMON,
	  .process = { 0, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "an owner dies while others wait",
	  SCRIPT{ .role = { WAITS, WAITS, SIGNALS_TWICE },
		  .enough = 2,
		  .mutex_flags = IPCWAIT_ROBUST,
		  .rescues = true,
		  .end_frees = true },
	  .search = { .pct_depth = 4, .pct_runs = 4000 } },
	{ 0 },
};
