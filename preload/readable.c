/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>

#include "os/seam.h"
#include "policy/hash.h"
#include "readable.h"

/* The least that a page has. */
#define PAGE_SHIFT 12

#define PAGE_BITS 8

/* Pages that the kernel has read; 0: none. */
static struct ipcwait_word64 pages[1u << PAGE_BITS];

static bool page_readable(uint64_t page)
{
	struct ipcwait_word64 *known = &pages[iw_hash(page) >> (64 - PAGE_BITS)];

	/* ORD readable.X1: relaxed, no order needed: true of the page whoever found out. */
	if (IPCWAIT_LIKELY(ipcwait_impl_load64_relaxed(known) == page && page))
		return true;
	if (!page || !iw_futex_readable((const uint32_t *)(page << PAGE_SHIFT)))
		return false;
	/* ORD readable.X2: relaxed, no order needed, as readable.X1. */
	ipcwait_impl_store64_relaxed(known, page);
	return true;
}

bool iw_readable(const void *p, size_t n)
{
	uint64_t first = (uintptr_t)p >> PAGE_SHIFT;
	uint64_t last = ((uintptr_t)p + n - 1) >> PAGE_SHIFT;

	if ((uintptr_t)p % sizeof(uint32_t))
		return false;
	while (first < last)
		if (!page_readable(first++))
			return false;
	return page_readable(last);
}
