/* SPDX-License-Identifier: MIT */
/* The fragment sends, closes and drains. */
#include <ipcwait/channel.h>

#include "job.h"

#include <errno.h>

int main(void)
{
	struct job job = { 7 };

	/* @BLOCK@ */

	if (r || worked != 7 || ipcwait_channel_recv(jobs, &job) != -EPIPE)
		return 1;
	ipcwait_channel_destroy(jobs);
	return 0;
}
