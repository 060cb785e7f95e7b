/* SPDX-License-Identifier: MIT */
/*
 * System calls that the library makes of its own accord. A filter (seccomp(2)) that knows only the
 * calls of the program may end the process for one of them. The preload module, which sees a filter
 * come or finds one there, forbids them here; in a program that is linked with the library all are
 * allowed. What a function does instead stands at the function.
 */
#ifndef IW_OS_CALLS_H
#define IW_OS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/impl/word.h>

enum iw_call {
	IW_CALL_YIELD = 1u << 0,     /* sched_yield(2) */
	IW_CALL_FLAGS = 1u << 1,     /* fcntl(2), F_GETFL */
	IW_CALL_KIND = 1u << 2,      /* fstat(2) of a descriptor */
	IW_CALL_READ_NOW = 1u << 3,  /* preadv2(2) with RWF_NOWAIT */
	IW_CALL_POLL = 1u << 4,      /* ppoll(2) */
	IW_CALL_RECV = 1u << 5,      /* recvfrom(2) in the place of read(2) */
	IW_CALL_AFFINITY = 1u << 6,  /* sched_getaffinity(2) */
	IW_CALL_FORGET = 1u << 7,    /* madvise(2), MADV_WIPEONFORK */
	IW_CALL_THREAD_ID = 1u << 8, /* gettid(2), getpid(2), getcpu(2) */
	IW_CALL_RANDOM = 1u << 9,    /* getrandom(2) */
	IW_CALL_FILES = 1u << 10, /* of files, beyond openat(2), read(2) and close(2), which
				     the loader has made */
	IW_CALL_OPTION = 1u << 11, /* getsockopt(2) */
	IW_CALL_MOVE = 1u << 12,   /* sched_setaffinity(2), sched_getaffinity(2),
				    sched_getscheduler(2), rt_sigprocmask(2) */

	/* What the program calls itself, with other arguments, or more often. */
	IW_CALL_AGAIN = 1u << 15,
};

/* All but the last, which a filter that was there before the program has to allow. */
#define IW_CALLS_EXTRA UINT32_C(0x7fff)

/* Of the word below: how many filters the program has begun. */
#define IW_CALLS_FILTER UINT32_C(0x10000)

/* The calls that are forbidden since the load, and above them the number of filters. */
extern struct ipcwait_word32 iw_calls;

static inline bool iw_call_allowed(enum iw_call call)
{
	/*
	 * ORD calls.X1: relaxed, no order needed: the thread that begins a filter knows, and others
	 * whom it concerns too have LEFT_NS to see it (preload/filter.c).
	 */
	return !(ipcwait_impl_load32_relaxed(&iw_calls) &
		 ((uint32_t)call | ~(IW_CALLS_FILTER - 1)));
}

/* At load: these are forbidden, until another call says otherwise. */
void iw_calls_forbid(uint32_t calls);

/*
 * The program is about to begin a filter: all of them are forbidden from now on, to all threads.
 * True if that is new. The other function takes it back if there is no filter after all.
 */
bool iw_calls_begin_filter(void);
void iw_calls_no_filter(void);

#endif
