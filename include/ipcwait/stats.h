/* SPDX-License-Identifier: MIT */
/*
 * What the library has done in this process, per kind of object.
 *
 *	struct ipcwait_stats st;
 *	if (ipcwait_stats_get(&st, sizeof(st)) > 0)
 *		printf("%" PRIu64 " futex calls\n", st.kind[IPCWAIT_KIND_SEM].futex_waits +
 *		                                    st.kind[IPCWAIT_KIND_SEM].futex_wakes);
 *
 * Only slow paths count: an operation that one atomic completes leaves no trace, and
 * costs nothing. Counters only grow; take differences. They are gathered from per-thread
 * shards without stopping anybody, so a snapshot taken while threads run may be a few
 * events out of step with itself.
 */
#ifndef IPCWAIT_STATS_H
#define IPCWAIT_STATS_H

#include <ipcwait/base.h>

enum ipcwait_kind {
	IPCWAIT_KIND_FUTEX,
	IPCWAIT_KIND_SEM,
	IPCWAIT_KIND_COUNT,
};

/* Places for later kinds, so that the struct keeps its size. */
#define IPCWAIT_KIND_SPACE 16

struct ipcwait_kind_stats {
	uint64_t spun;           /* waits that ended while spinning */
	uint64_t slept;          /* waits that ended after they had given up spinning */
	uint64_t expired;        /* waits that ended at their deadline */
	uint64_t interrupted;    /* waits that a signal ended */
	uint64_t futex_waits;    /* system calls to sleep */
	uint64_t futex_wakes;    /* system calls to wake */
	uint64_t wakes_avoided;  /* posts with sleepers that needed no system call */
	uint64_t spun_useful_ns; /* spinning in waits that ended while spinning */
	uint64_t spun_wasted_ns; /* spinning in vain */
	uint64_t slept_ns;       /* asleep; where two CPUs are usable */
};

struct ipcwait_stats {
	uint64_t size;          /* bytes filled in, at most those given */
	uint64_t block_cost_ns; /* B, a block/wake pair, by the default preset */
	uint64_t block_samples; /* wakes seen; below 32 B is still a table value */
	uint64_t usable_cpus;   /* CPUs that the calling thread may run on */
	struct ipcwait_kind_stats kind[IPCWAIT_KIND_SPACE];
};

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_stats_get() - read the counters of this process
 * @st:   filled in, up to @size bytes; older programs pass a smaller size
 * @size: sizeof(*@st) as the caller knows it
 *
 * Return: the number of bytes filled in.
 *   -EINVAL  @st is NULL, or @size is smaller than the first four members
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    the calling process only
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @st is the caller's
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_stats_get(struct ipcwait_stats *st, size_t size);

IPCWAIT_END_DECLS

#endif
