/* SPDX-License-Identifier: MIT */
#include <ipcwait/awake.h>

#include "os/wake_latency.h"

int ipcwait_awake_begin(void)
{
	return iw_wake_latency_begin();
}

int ipcwait_awake_end(void)
{
	return iw_wake_latency_end();
}
