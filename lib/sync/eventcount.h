/* SPDX-License-Identifier: MIT */
#ifndef IW_SYNC_EVENTCOUNT_H
#define IW_SYNC_EVENTCOUNT_H

#include <ipcwait/eventcount.h>
#include <ipcwait/stats.h>

/* As ipcwait_eventcount_notify(), for waits that count as @kind's. */
int iw_eventcount_notify(struct ipcwait_eventcount *ec, uint32_t n, enum ipcwait_kind kind);

/* A new one of this process. */
struct ipcwait_eventcount iw_eventcount_private(void);

#endif
