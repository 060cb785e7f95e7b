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
 * costs nothing. Counters only grow, but for slept: a wait counts there as soon as it goes to
 * sleep, and no more if it gives up. Take differences. They are gathered from per-thread
 * shards without stopping anybody, so a snapshot taken while threads run may be a few
 * events out of step with itself.
 *
 * Objects with a name (ipcwait_object_set_name() in <ipcwait/explain.h>) have counters of their
 * own. Other processes of the same user read all of them with IPCWAIT_PAGE=1: <ipcwait/page.h>.
 */
#ifndef IPCWAIT_STATS_H
#define IPCWAIT_STATS_H

#include <ipcwait/policy.h>

enum ipcwait_kind {
	IPCWAIT_KIND_FUTEX,
	IPCWAIT_KIND_SEM,
	IPCWAIT_KIND_MUTEX,
	IPCWAIT_KIND_COND,
	IPCWAIT_KIND_EVENT,
	IPCWAIT_KIND_EVENTCOUNT,
	IPCWAIT_KIND_BARRIER,
	IPCWAIT_KIND_LATCH,
	IPCWAIT_KIND_ONCE,
	IPCWAIT_KIND_RWLOCK,
	IPCWAIT_KIND_WAIT_ANY,
	IPCWAIT_KIND_QUEUE, /* of one consumer or one producer too */
	IPCWAIT_KIND_CHANNEL,
	IPCWAIT_KIND_FD, /* descriptors */
	IPCWAIT_KIND_COUNT,
};

/* Why a wait slept. Where several hold, the first that the waiter came upon. */
enum ipcwait_reason {
	IPCWAIT_REASON_NONE,         /* it did not sleep */
	IPCWAIT_REASON_WINDOW_OVER,  /* it spun for its window in vain */
	IPCWAIT_REASON_LEARNED_LONG, /* the window is 0: waits on this object are long */
	IPCWAIT_REASON_PRESET_BLOCK, /* the preset says never to spin */
	IPCWAIT_REASON_ONE_CPU,      /* no second CPU for the thread that it waited for */
	IPCWAIT_REASON_RATIONED,     /* the quota of CPU time is small */
	IPCWAIT_REASON_SAME_CPU,     /* the last waker ran on the same CPU */
	IPCWAIT_REASON_BUDGET_EMPTY, /* too much spinning had been in vain lately */
	IPCWAIT_REASON_CROWDED,      /* another thread spun for it already */
	IPCWAIT_REASON_PREEMPTED,    /* the kernel switched the thread out while it spun */
	IPCWAIT_REASON_STOLEN,       /* the hypervisor took the CPU while it spun */
	IPCWAIT_REASON_PROBE,        /* it slept to measure what a sleep costs */
	IPCWAIT_REASON_NO_FACTS,     /* nothing was known about the machine yet */
	IPCWAIT_REASON_OVERTAKEN,    /* others took it too often while the thread spun */
	IPCWAIT_REASON_DEADLINE,     /* it spun until right before its deadline */
	IPCWAIT_REASON_INTERRUPTIBLE, /* a signal handler is to end the wait, not so a spin */
	IPCWAIT_REASON_CHEAP, /* a descriptor, and a sleep costs no more than looks */
	IPCWAIT_REASON_COUNT,
};

/* Places for later kinds and reasons, so that the struct keeps its size. */
#define IPCWAIT_KIND_SPACE   16
#define IPCWAIT_REASON_SPACE 32

/*
 * slept_ns leaves out the waits of threads without a second CPU (one CPU, rationed, same CPU),
 * cheap sleeps, those that the preset BLOCK lets sleep, and interruptible ones: a thread that
 * will not spin whatever it learns spares itself the clock.
 */
struct ipcwait_kind_stats {
	uint64_t spun;           /* waits that ended while spinning */
	uint64_t slept;          /* waits that went to sleep, less those that gave up */
	uint64_t expired;        /* waits that ended at their deadline */
	uint64_t interrupted;    /* waits that a signal ended */
	uint64_t futex_waits;    /* system calls to sleep */
	uint64_t futex_wakes;    /* system calls to wake */
	uint64_t wakes_avoided;  /* posts with sleepers that needed no system call */
	uint64_t spun_useful_ns; /* spinning in waits that ended while spinning */
	uint64_t spun_wasted_ns; /* spinning in vain */
	uint64_t slept_ns;       /* asleep, where the clock was read */
	uint64_t preempted;      /* spins in vain: the kernel switched the thread out */
	uint64_t stolen;         /* spins in vain: the hypervisor took the CPU */
	uint64_t timed_sleeps;   /* LATENCY: sleeps on a timer, to spin only the rest */
};

struct ipcwait_stats {
	uint64_t size;          /* bytes filled in, at most those given */
	uint64_t block_cost_ns; /* B, a block/wake pair, by the default preset */
	uint64_t block_samples; /* wakes seen; below 4 B is still a table value */
	uint64_t usable_cpus;   /* CPUs that the calling thread may run on */
	struct ipcwait_kind_stats kind[IPCWAIT_KIND_SPACE];
	uint64_t reasons
		[IPCWAIT_REASON_SPACE]; /* waits that slept, by enum ipcwait_reason */
	uint64_t awake_requests; /* that idle CPUs poll, made by this process: awake.h */
	uint64_t awake_ns;       /* that one was held */
	/* Of threads away from their waker's CPU, IPCWAIT_PLACE, and how the trials ended. */
	uint64_t moves_apart;
	uint64_t moves_back;   /* the waits were no shorter: the thread went back */
	uint64_t moves_kept;   /* the waits were shorter: the thread stayed */
	uint64_t moves_undone; /* without an answer, as where the scheduler put it back */
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

/* Of one object, since it has a name. */
struct ipcwait_object_stats {
	uint64_t size;           /* bytes filled in, at most those given */
	uint64_t waits;          /* that had to wait and are over */
	uint64_t gave_up;        /* of them, without success: time-outs, signals */
	uint64_t spun_useful_ns; /* spinning in waits that ended while spinning */
	uint64_t spun_wasted_ns; /* spinning in vain */
	uint64_t slept_ns;       /* asleep, where the clock was read */
	uint64_t window_ns;      /* the last window that was chosen; 0: none was */
	/* Waits by enum ipcwait_reason; [IPCWAIT_REASON_NONE] did not sleep. */
	uint64_t reasons[IPCWAIT_REASON_SPACE];
};

/**
 * ipcwait_object_stats_get() - read the counters of one object
 * @w:    the window of the object (`&sem.window`)
 * @st:   filled in, up to @size bytes
 * @size: sizeof(*@st) as the caller knows it
 *
 * The waits of this process that had to wait, as above. They are counted from when the object got
 * its name; with IPCWAIT_EXPLAIN=1 or IPCWAIT_PAGE=1 on all objects, from the first. Of waits that
 * were only spun for a thread may put off counting one in 32, but not the calling thread; so some
 * from before the name may be among them.
 *
 * Return: the number of bytes filled in.
 *   -EINVAL  @w is NULL or misaligned, @st is NULL, or @size leaves no room for what comes before
 *            the reasons
 *   -ENOENT  it has no name, and none of its waits was counted
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    the calling process only
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @w is not touched, only its address is looked up; @st is the caller's
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_object_stats_get(const struct ipcwait_window *w,
					 struct ipcwait_object_stats *st, size_t size);

IPCWAIT_END_DECLS

#endif
