/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/realtime.h"

/* From <linux/sched.h>, which does not go with glibc's <sched.h>. */
#define CLASS_DEADLINE 6
#define RESET_ON_FORK  0x40000000

/* The system call itself: in musl the function always fails. */
bool iw_realtime(void)
{
	int saved_errno = errno;
	long class = syscall(SYS_sched_getscheduler, 0);

	errno = saved_errno;
	if (class < 0)
		return false;
	class &= ~RESET_ON_FORK;
	return class == SCHED_FIFO || class == SCHED_RR || class == CLASS_DEADLINE;
}
