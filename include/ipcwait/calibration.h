/* SPDX-License-Identifier: MIT */
/*
 * What sleeping and waking cost on this machine, measured on purpose.
 *
 *	struct ipcwait_calibration c;
 *	int r = ipcwait_calibrate(NULL, &c);     // about half a second
 *
 *	if (r == 0)
 *		r = ipcwait_calibration_save(&c); // later processes begin with it
 *
 * Nobody needs this: without it the library begins with a table value and learns from real
 * wakes. A calibration replaces the table value, so that the first waits of a process are as
 * good as later ones. `ipcwait calibrate` does the same and shows the result.
 *
 * The saved calibration is a file: IPCWAIT_CALIBRATION in the environment if that is set
 * (an absolute path, or `none`), else $XDG_CACHE_HOME/ipcwait/calibration, else
 * ~/.cache/ipcwait/calibration. It is read once, when the library is loaded. It holds
 * until the machine boots, and for the same kernel, CPU, hypervisor, idle driver and
 * affinity only. A file that others could have written or that is damaged is not believed.
 *
 * Cost: two threads that keep two CPUs busy for most of the time.
 * Guarantees: the caller's threads, their affinity and their signal masks are left alone;
 * the threads are gone when the call returns.
 * Limits: figures from a busy machine are those of a busy machine. Samples that were
 * preempted, or disturbed by the hypervisor, are left out and counted. Needs 64 KiB of stack.
 */
#ifndef IPCWAIT_CALIBRATION_H
#define IPCWAIT_CALIBRATION_H

#include <ipcwait/base.h>

/* How far apart two CPUs are, by the nearest thing that they share. */
enum ipcwait_distance {
	IPCWAIT_DISTANCE_UNKNOWN,
	IPCWAIT_DISTANCE_CORE,    /* two hardware threads of one core */
	IPCWAIT_DISTANCE_L2,      /* a second-level cache */
	IPCWAIT_DISTANCE_L3,      /* a third-level cache */
	IPCWAIT_DISTANCE_PACKAGE, /* the package, no cache */
	IPCWAIT_DISTANCE_OTHER,   /* nothing of these */
};

/* Idle ages that are measured: 5, 20, 50, 100, 200, 500 us, 2 and 10 ms. */
#define IPCWAIT_IDLE_AGES 8

/* Most pairs of CPUs in a calibration, one of each distance. */
#define IPCWAIT_CALIBRATION_PAIRS 5

/* Wakes of a thread that had slept for about idle_ns. */
struct ipcwait_wake_latency {
	uint64_t idle_ns;
	uint64_t p10_ns;    /* from before the wake to running again, lowest tenth */
	uint64_t median_ns; /* 0: not measured, and so is all that follows */
	uint64_t p90_ns;
	uint64_t waker_ns; /* what the waker paid, over a wake with nobody asleep; median */
	uint32_t used;     /* samples behind these figures */
	uint32_t discarded;
};

/* The waker ran on cpu_a and the sleeper on cpu_b. */
struct ipcwait_calibration_pair {
	uint32_t distance; /* enum ipcwait_distance */
	uint32_t cpu_a;
	uint32_t cpu_b;
	uint32_t reserved; /* 0 */
	uint64_t line_ns;  /* a cache line there and back between two spinning threads */
	struct ipcwait_wake_latency latency[IPCWAIT_IDLE_AGES];
};

/*
 * A figure that was not measured is 0. pair[0] has a common third-level cache if there is such
 * a pair: within one the kernel likes to place threads that wake each other. The single
 * figures are from there.
 */
struct ipcwait_calibration {
	uint64_t size;           /* bytes that the library filled in */
	uint64_t measured_at_s;  /* when, in seconds since 1970 */
	uint64_t pause_ps;       /* one step of a spin loop, in picoseconds */
	uint64_t line_ns;        /* as pair[0].line_ns */
	uint64_t empty_wake_ns;  /* a wake with nobody asleep, mostly the system call */
	uint64_t latency_ns;     /* wake latency where the idle age is about B */
	uint64_t waker_ns;       /* what the waker pays there */
	uint64_t sleeper_cpu_ns; /* CPU time of the sleeper for one sleep */
	uint64_t timer_ns;       /* how late a timed sleep of 1 ms ends, median */
	uint64_t timer_p90_ns;
	uint64_t block_ns; /* B: latency and waker's share, as the engine adds them */
	int64_t counter_offset_ns; /* how far cpu_b's counter is ahead, in the worst pair */
	uint32_t counter_one_way;  /* 1: counters may be compared between all these CPUs */
	uint32_t is_from_cache;    /* 1: read from the file, 0: measured here or a table */
	uint32_t samples_used;     /* over all measurements; 0: a table value */
	uint32_t samples_discarded; /* preempted, stolen, or not asleep yet */
	uint32_t pair_count;        /* entries of pair[] in use */
	uint32_t reserved0;         /* 0 */
	uint64_t reserved[8];       /* 0 */
	struct ipcwait_calibration_pair pair[IPCWAIT_CALIBRATION_PAIRS];
};

/* Zero-initialised means defaults. */
struct ipcwait_calibrate_params {
	uint32_t thorough; /* not 0: five times the samples, all ages for all pairs */
	uint32_t reserved; /* zero */
	uint32_t cpu_a;    /* measure the wake from this CPU ... */
	uint32_t cpu_b; /* ... to this one only; both the same: a pair of each distance */
	/* called in the caller's thread now and then, with done <= total; may be NULL */
	void (*progress)(void *arg, uint32_t done, uint32_t total);
	void *progress_arg;
};

IPCWAIT_BEGIN_DECLS

/* What the inline functions below call, with the sizes that their caller was compiled with.
 * Exported, not API. */
IPCWAIT_API int ipcwait_impl_calibrate(const struct ipcwait_calibrate_params *params,
				       size_t params_size, struct ipcwait_calibration *out,
				       size_t size);
IPCWAIT_API int ipcwait_impl_calibration_get(struct ipcwait_calibration *out, size_t size);

/**
 * ipcwait_calibrate() - measure what sleeping and waking cost
 * @params: how much; NULL for the defaults, about half a second
 * @out:    filled in
 *
 * The process uses the result at once, in place of the table value and of a saved
 * calibration. What it learns from real wakes still goes first.
 *
 * Return: 0. Any error: *@out and what the process uses are unchanged.
 *   -EOPNOTSUPP  the calling thread may use one CPU only
 *   -EAGAIN      the machine is too busy to measure, allows no more threads, or has lost a CPU
 *   -EBUSY       another thread of the process is calibrating
 *   -EINVAL      @out is NULL or misaligned, or @params names a CPU that is not usable or has
 *                a reserved member that is not zero
 *   -EPERM       a filter forbids threads with an affinity
 *   -ENOSYS      the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     none
 * Threads:      any, one at a time
 * Processes:    the calling process only
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @params and @out are the caller's
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_calibrate(
	const struct ipcwait_calibrate_params *params, struct ipcwait_calibration *out)
{
	return ipcwait_impl_calibrate(params, sizeof(*params), out, sizeof(*out));
}

/**
 * ipcwait_calibration_get() - the calibration that this process uses
 * @out: filled in
 *
 * The last one measured in this process, else the saved one, else the table value: then only
 * latency_ns, waker_ns and block_ns are known, and samples_used is 0. What has been learned
 * from real wakes is in ipcwait_stats_get().
 *
 * Return: 0.
 *   -EINVAL  @out is NULL or misaligned
 *   -EAGAIN  many threads make their first use of the library at this moment
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    the calling process only
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @out is the caller's
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_calibration_get(
	struct ipcwait_calibration *out)
{
	return ipcwait_impl_calibration_get(out, sizeof(*out));
}

/**
 * ipcwait_calibration_save() - let later processes begin with a calibration
 * @c: what ipcwait_calibrate() has measured on this machine
 *
 * Replaces the file in one step, with mode 0600. Makes the directory if it is the default.
 *
 * Return: 0.
 *   -EINVAL  @c is NULL or misaligned, or holds what no calibration can
 *   -ENOENT  there is no place for it: IPCWAIT_CALIBRATION is `none`, or neither that nor
 *            XDG_CACHE_HOME nor HOME is set; or its directory does not exist
 *   others   what writing the file gave: -EACCES, -EROFS, -ENOSPC, ...
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    read by later processes of the same user
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @c may go when the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_calibration_save(
	const struct ipcwait_calibration *c);

/**
 * ipcwait_calibration_path() - where the saved calibration is, or would be
 * @path: filled in and terminated
 * @size: bytes at @path
 *
 * Return: the length of the path.
 *   -EINVAL        @path is NULL
 *   -ENAMETOOLONG  @size is too small; nothing was written
 *   -ENOENT        there is no place, as for ipcwait_calibration_save()
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    the calling process only
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @path is the caller's
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_calibration_path(char *path, size_t size);

IPCWAIT_END_DECLS

#endif
