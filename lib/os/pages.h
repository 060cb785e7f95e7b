/* SPDX-License-Identifier: MIT */
/* Memory in whole pages, from the kernel and back to it. errno is preserved. */
#ifndef IW_OS_PAGES_H
#define IW_OS_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * @bytes of zeroes. At a multiple of @align, a power of two that @bytes is a multiple of; 0: where
 * a page begins. NULL: no memory.
 */
void *iw_pages_get(size_t bytes, size_t align);

void iw_pages_put(void *pages, size_t bytes);

/*
 * Memory that is shared with others becomes this process's own, with what is in it. No other thread
 * may use it meanwhile. False: no memory, and it is as it was.
 */
bool iw_pages_part(void *pages, size_t bytes);

/* The same, with zeroes in it; and with what is at @by, from iw_pages_get(), which is used up. */
bool iw_pages_renew(void *pages, size_t bytes);
bool iw_pages_replace(void *pages, void *by, size_t bytes);

#endif
