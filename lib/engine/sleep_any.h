/* SPDX-License-Identifier: MIT */
/* One sleep on several words, for the .sleep of a struct iw_waitable. */
#ifndef IW_ENGINE_SLEEP_ANY_H
#define IW_ENGINE_SLEEP_ANY_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/stats.h>

#include "os/futex_waitv.h"

/* False once the kernel, or a filter, has turned out not to know futex_waitv(2). */
bool iw_sleeps_on_several(void);

/*
 * Sleep in the kernel once, on all of @n words. Returns what lib/os/futex_waitv.h lists; but
 * -EAGAIN instead of -ENOSYS and -EPERM, and iw_sleeps_on_several() is false from then on.
 */
int iw_sleep_on_several(enum ipcwait_kind kind, const struct iw_waitv *words, unsigned n,
			int64_t deadline_ns);

#endif
