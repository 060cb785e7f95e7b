/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/futex.h"
#include "os/futex_waitv.h"
#include "os/syscall.h"

/* Where the headers are older than the kernel. The number is the same on all CPUs. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

int iw_futex_waitv(const struct iw_waitv *words, unsigned n, int64_t deadline_ns)
{
	int saved_errno = errno, result;
	bool for_ever = deadline_ns == INT64_MAX;
	struct timespec deadline = { 0, 0 };

	if (!for_ever)
		deadline =
			iw_futex_deadline(iw_clock_of_kernel(CLOCK_MONOTONIC, deadline_ns));
	result = (int)IW_SYS(SYS_futex_waitv, words, n, 0, for_ever ? NULL : &deadline,
			     CLOCK_MONOTONIC);
	if (result < 0)
		result = -errno;
	errno = saved_errno;
	return result;
}
