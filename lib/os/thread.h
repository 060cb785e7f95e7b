/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_THREAD_H
#define IW_OS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the library keeps per thread. Plain data in the static TLS block: no allocation
 * and no constructor, so that signal handlers may use it. Only its own thread touches it;
 * a signal handler of that thread may see it half updated, so every value must be legal.
 */
struct iw_thread {
	uint32_t shard;        /* index + 1 of the statistics shard; 0: not chosen yet */
	uint32_t jitter;       /* state of the generator that jitters windows */
	uint32_t cpus;         /* CPUs in the affinity mask, 0: not read yet */
	uint32_t cpu_first;    /* the lowest of them */
	bool alone;            /* the last contended wait found no second CPU */
	uint32_t wakes;        /* sleepers' wakes issued, to time some of them */
	uint64_t cpus_read_at; /* ticks when the mask was read */
	uint64_t full_at;      /* ticks when the budget of failed spins is full again */
	uint64_t
		woke_at_ns; /* last wake of a sleeper since the last contended wait, or 0 */
};

#define IW_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))

extern _Thread_local struct iw_thread iw_thread IW_TLS_INITIAL_EXEC;

#endif
