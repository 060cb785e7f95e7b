/* SPDX-License-Identifier: MIT */
/* A program under AddressSanitizer is told of whoever touches an object that is in its pool. */
#ifndef IW_QUEUE_POISON_H
#define IW_QUEUE_POISON_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define IW_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IW_POISONS 1
#endif
#endif

#ifdef IW_POISONS
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
