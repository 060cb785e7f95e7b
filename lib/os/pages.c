/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "os/pages.h"

static char *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

static void unmap(char *p, size_t bytes)
{
	if (bytes)
		(void)munmap(p, bytes);
}

/* Maps more than is asked for, and gives back what lies before and behind. */
static char *map_aligned(size_t bytes, size_t align)
{
	char *all = map(bytes + align), *begin;
	size_t before;

	if (!all)
		return NULL;
	before = -(uintptr_t)all & (align - 1);
	begin = all + before;
	unmap(all, before);
	unmap(begin + bytes, align - before);
	return begin;
}

void *iw_pages_get(size_t bytes, size_t align)
{
	int saved_errno = errno;
	char *p = map(bytes);

	if (p && align && (uintptr_t)p & (align - 1)) {
		unmap(p, bytes);
		p = map_aligned(bytes, align);
	}
	errno = saved_errno;
	return p;
}

void iw_pages_put(void *pages, size_t bytes)
{
	int saved_errno = errno;

	unmap(pages, bytes);
	errno = saved_errno;
}

bool iw_pages_replace(void *pages, void *by, size_t bytes)
{
	int saved_errno = errno;
	void *p = mremap(by, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages);

	if (p == MAP_FAILED)
		unmap(by, bytes);
	errno = saved_errno;
	return p != MAP_FAILED;
}

bool iw_pages_part(void *pages, size_t bytes)
{
	int saved_errno = errno;
	char *copy = map(bytes);

	if (copy)
		memcpy(copy, pages, bytes);
	errno = saved_errno;
	return copy && iw_pages_replace(pages, copy, bytes);
}

bool iw_pages_renew(void *pages, size_t bytes)
{
	int saved_errno = errno;
	void *p = mmap(pages, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	errno = saved_errno;
	return p != MAP_FAILED;
}
