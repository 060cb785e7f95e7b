/* SPDX-License-Identifier: MIT */
/*
 * A system call, without libc around it where lib/arch has one: it does not touch errno, and the
 * thread comes back through one return address less, which the CPU has forgotten in the kernel.
 */
#ifndef IW_OS_SYSCALL_H
#define IW_OS_SYSCALL_H

#include <errno.h>
#include <unistd.h>

#include "arch/arch.h"

/* Returns what the kernel does: a negative errno on failure. */
static inline long iw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef iw_arch_syscall
	return iw_arch_syscall(number, a, b, c, d, e, f);
#else
	int saved_errno = errno;
	long r = syscall(number, a, b, c, d, e, f);

	if (r == -1)
		r = -errno;
	errno = saved_errno;
	return r;
#endif
}

#endif
