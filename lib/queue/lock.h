/* SPDX-License-Identifier: MIT */
/* The library's own mutex, for what is rare. */
#ifndef IW_QUEUE_LOCK_H
#define IW_QUEUE_LOCK_H

#include <ipcwait/mutex.h>

#include "os/seam.h"

/* Fails only where a filter forbids futex(2), and then there is nothing but to try again. */
static inline void iw_lock(struct ipcwait_mutex *m)
{
	while (ipcwait_mutex_lock(m))
		iw_pause();
}

static inline void iw_unlock(struct ipcwait_mutex *m)
{
	(void)ipcwait_mutex_unlock(m);
}

#endif
