/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_SHARING_H
#define IW_OS_SHARING_H

#include <stdbool.h>

/*
 * Other processes may see the memory at @address, which is in use: a shared mapping, not the
 * copy that a child has after fork(). False if the kernel does not tell. errno is preserved.
 */
bool iw_memory_is_shared(const void *address);

/*
 * This process sees the memory at @address, which is shared, at another one too. False if the
 * kernel does not tell. errno is preserved.
 */
bool iw_memory_is_mapped_twice(const void *address);

#endif
