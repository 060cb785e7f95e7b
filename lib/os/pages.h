/* SPDX-License-Identifier: MIT */
/* Memory in whole pages, from the kernel and back to it. errno is preserved. */
#ifndef IW_OS_PAGES_H
#define IW_OS_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * @bytes of zeroes at a multiple of @align, both powers of two of 4096 and more. NULL: no memory.
 */
void *iw_pages_get(size_t bytes, size_t align);

void iw_pages_put(void *pages, size_t bytes);

/*
 * Memory that is shared with others becomes this process's own, with what is in it. No other thread
 * may use it meanwhile. False: no memory, and it is as it was.
 */
bool iw_pages_part(void *pages, size_t bytes);

#endif
