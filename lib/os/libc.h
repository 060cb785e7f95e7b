/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_LIBC_H
#define IW_OS_LIBC_H

#include <stdbool.h>

/*
 * True if the function at @function is in the C library, and not in another one that stands in
 * front of it. False also where a program without PIC has an entry of its own for it; true where
 * the C library does not tell which it is. Takes the loader's lock.
 */
bool iw_is_libcs(const void *function);

#endif
