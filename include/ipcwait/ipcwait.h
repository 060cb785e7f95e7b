/* SPDX-License-Identifier: MIT */
/* All of libipcwait. Declares nothing of its own. */
#ifndef IPCWAIT_IPCWAIT_H
#define IPCWAIT_IPCWAIT_H

#include <ipcwait/awake.h>
#include <ipcwait/barrier.h>
#include <ipcwait/base.h>
#include <ipcwait/calibration.h>
#include <ipcwait/channel.h>
#include <ipcwait/channel_shared.h>
#include <ipcwait/cond.h>
#include <ipcwait/event.h>
#include <ipcwait/eventcount.h>
#include <ipcwait/explain.h>
#include <ipcwait/fd.h>
#include <ipcwait/futex.h>
#include <ipcwait/latch.h>
#include <ipcwait/mutex.h>
#include <ipcwait/once.h>
#include <ipcwait/page.h>
#include <ipcwait/policy.h>
#include <ipcwait/pool.h>
#include <ipcwait/queue.h>
#include <ipcwait/record.h>
#include <ipcwait/region.h>
#include <ipcwait/rwlock.h>
#include <ipcwait/sem.h>
#include <ipcwait/spsc.h>
#include <ipcwait/stats.h>
#include <ipcwait/wait_any.h>

#endif
