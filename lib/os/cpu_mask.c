/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/cpu_mask.h"
#include "os/syscall.h"

static void read_mask(pid_t id, struct iw_cpu_mask *mask)
{
	int saved_errno = errno;

	memset(mask, 0, sizeof(*mask));
	(void)IW_SYS(SYS_sched_getaffinity, id, sizeof(*mask), mask);
	errno = saved_errno;
}

void iw_cpu_mask_of_thread(struct iw_cpu_mask *mask)
{
	read_mask(0, mask);
}

void iw_cpu_mask_of_process(struct iw_cpu_mask *mask)
{
	read_mask(getpid(), mask);
}
