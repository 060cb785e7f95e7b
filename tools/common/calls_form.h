/* SPDX-License-Identifier: MIT */
/*
 * What `ipcwait run` hands down to the preload module where a filter of system calls (seccomp(2))
 * is in force: which of the module's own calls the filter allows. It has tried them out in a child,
 * as a filter may end the process.
 */
#ifndef TOOLS_CALLS_FORM_H
#define TOOLS_CALLS_FORM_H

/*
 * How many filters were in force, and the calls that they allow, as a number. Where there are more
 * filters by now, one has come since, and the module believes none of it.
 */
#define CALLS_VARIABLE "IPCWAIT_PRELOAD_CALLS"
#define CALLS_FORMAT   "%u:%x"

/* As enum iw_call in lib/os/calls.h. */
enum calls_bit {
	CALLS_YIELD = 1u << 0,
	CALLS_FLAGS = 1u << 1,
	CALLS_KIND = 1u << 2,
	CALLS_READ_NOW = 1u << 3,
	CALLS_POLL = 1u << 4,
	CALLS_RECV = 1u << 5,
	CALLS_AFFINITY = 1u << 6,
	CALLS_FORGET = 1u << 7,
	CALLS_THREAD_ID = 1u << 8,
	CALLS_RANDOM = 1u << 9,
	CALLS_FILES = 1u << 10,
	CALLS_OPTION = 1u << 11,
	CALLS_MOVE = 1u << 12,
};

#endif
