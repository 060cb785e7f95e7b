/* SPDX-License-Identifier: MIT */
#include <ipcwait/base.h>

#include "os/seam.h"

const char *ipcwait_version(void)
{
	return IW_VERSION;
}

int64_t ipcwait_now_ns(void)
{
	return iw_clock_ns();
}

int64_t ipcwait_deadline_in_ns(int64_t ns)
{
	int64_t now = iw_clock_ns();

	if (ns > 0 && now > IPCWAIT_FOREVER - ns)
		return IPCWAIT_FOREVER;
	/* The clock counts up from zero, so a negative @ns cannot underflow. */
	return now + ns;
}
