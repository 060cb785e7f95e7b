/* SPDX-License-Identifier: MIT */
/* All of libipcwait. Declares nothing of its own. */
#ifndef IPCWAIT_IPCWAIT_H
#define IPCWAIT_IPCWAIT_H

#include <ipcwait/base.h>
#include <ipcwait/calibration.h>
#include <ipcwait/explain.h>
#include <ipcwait/futex.h>
#include <ipcwait/policy.h>
#include <ipcwait/sem.h>
#include <ipcwait/stats.h>

#endif
