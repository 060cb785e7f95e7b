/* SPDX-License-Identifier: MIT */
/*
 * System calls, without libc around them where lib/arch has one: the thread comes back through one
 * return address less, which the CPU has forgotten in the kernel. And no file below lib/ calls
 * libc's syscall(), because a program, or the preload module, may have a function of that name.
 */
#ifndef IW_OS_SYSCALL_H
#define IW_OS_SYSCALL_H

#include <errno.h>
#include <unistd.h>

#include "arch/arch.h"

/* The kernel's results from -IW_ERRNO_MOST to -1 are errors. */
#define IW_ERRNO_MOST 4095

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

/* The same as libc's syscall() has it: on failure -1 and errno. */
static inline long iw_sys_of_six(long number, long a, long b, long c, long d, long e,
				 long f)
{
	long r = iw_syscall(number, a, b, c, d, e, f);

	if (r >= 0 || r < -IW_ERRNO_MOST)
		return r;
	errno = (int)-r;
	return -1;
}

/* With as many arguments as the call has: the others are 0. */
#define IW_SYS(...) IW_SYS_FIRST(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define IW_SYS_FIRST(number, a, b, c, d, e, f, ...)                                  \
	iw_sys_of_six(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), \
		      (long)(f))

#endif
