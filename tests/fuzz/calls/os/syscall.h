/* SPDX-License-Identifier: MIT */
/* In the place of lib/os/syscall.h: the fuzz target is the kernel. */
#ifndef IW_OS_SYSCALL_H
#define IW_OS_SYSCALL_H

long iw_syscall(long number, long a, long b, long c, long d, long e, long f);

#endif
