/* SPDX-License-Identifier: MIT */
/* Memory in whole pages, from the kernel and back to it. errno is preserved. */
#ifndef IW_OS_PAGES_H
#define IW_OS_PAGES_H

#include <stddef.h>

/*
 * @bytes of zeroes at a multiple of @align, both powers of two of 4096 and more. NULL: no memory.
 */
void *iw_pages_get(size_t bytes, size_t align);

void iw_pages_put(void *pages, size_t bytes);

#endif
