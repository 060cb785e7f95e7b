/* SPDX-License-Identifier: MIT */
/* The one place where a thread of the library goes to sleep. */
#ifndef IW_ENGINE_SLEEP_H
#define IW_ENGINE_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/stats.h>

struct iw_rest;
struct iw_waiter;

/* Sleep in the kernel once. Returns what lib/os/futex.h lists. */
int iw_sleep_once(enum ipcwait_kind kind, const uint32_t *futex, uint32_t expected,
		  int64_t deadline_ns, bool private_);

/*
 * Sleep in the kernel once, as @rest says, until @until_ns at the latest; if @me is interruptible,
 * until any signal handler runs. Returns what lib/os/futex.h and futex_waitv.h list; but -EAGAIN
 * instead of -ENOSYS and -EPERM where futex_waitv(2) is not to be had, and iw_sleeps_on_several()
 * is false from then on.
 */
int iw_sleep_as(struct iw_waiter *me, const struct iw_rest *rest, int64_t until_ns);

/* How many threads of the process sleep in iw_sleep_as() where nobody wakes them. */
uint32_t iw_sleepers_unpublished(void);

/*
 * How long @me sleeps until it looks by itself: nobody wakes it, or its waker may die and the
 * primitive has no time of its own for that. 0: until it is woken.
 */
int64_t iw_sleep_look_ns(const struct iw_waiter *me, const struct iw_rest *rest);

/* False once the kernel, or a filter, has turned out not to know futex_waitv(2). */
bool iw_sleeps_on_several(void);

#endif
