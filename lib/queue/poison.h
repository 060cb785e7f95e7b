/* SPDX-License-Identifier: MIT */
/* AddressSanitizer, if the library is built with it, is told which objects are in their pool. */
#ifndef IW_QUEUE_POISON_H
#define IW_QUEUE_POISON_H

#include <stddef.h>

#include <ipcwait/pool.h>

#if !IPCWAIT_IMPL_POOL_INLINE
#include <sanitizer/asan_interface.h>

static inline void iw_poison(void *p, size_t bytes)
{
	__asan_poison_memory_region(p, bytes);
}

static inline void iw_unpoison(void *p, size_t bytes)
{
	__asan_unpoison_memory_region(p, bytes);
}
#else
static inline void iw_poison(void *p, size_t bytes)
{
	(void)p;
	(void)bytes;
}

static inline void iw_unpoison(void *p, size_t bytes)
{
	(void)p;
	(void)bytes;
}
#endif

#endif
