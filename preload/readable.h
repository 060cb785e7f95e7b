/* SPDX-License-Identifier: MIT */
/*
 * Whether memory that the program hands to the kernel may be read here as well: where the kernel
 * would say EFAULT a look would be a crash. The kernel is asked once for a page; what it has read
 * before is believed to be there still, since a program that takes away memory in which a thread
 * waits has nothing to wait for.
 */
#ifndef IW_PRELOAD_READABLE_H
#define IW_PRELOAD_READABLE_H

#include <stdbool.h>
#include <stddef.h>

/* @n bytes, not 0, at an address aligned to 4. False also if it is not aligned. */
bool iw_readable(const void *p, size_t n);

#endif
