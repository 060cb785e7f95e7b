/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/calls.h"
#include "os/lines.h"
#include "os/own_fd.h"
#include "os/sharing.h"
#include "os/syscall.h"

/* "page is file-page or shared-anon", Documentation/admin-guide/mm/pagemap.rst */
#define SHARED (UINT64_C(1) << 61)

bool iw_memory_is_shared(const void *address)
{
	int saved_errno = errno;
	uint64_t page = 0, at = (uintptr_t)address / (uint64_t)sysconf(_SC_PAGESIZE);
	int fd;

	if (!iw_call_allowed(IW_CALL_FILES))
		return false;
	fd = iw_own_open(AT_FDCWD, "/proc/self/pagemap", O_RDONLY, 0);
	if (fd >= 0) {
		if (IW_SYS(SYS_pread64, fd, &page, sizeof(page), at * sizeof(page)) !=
		    sizeof(page))
			page = 0;
		(void)IW_SYS(SYS_close, fd);
	}
	errno = saved_errno;
	return page & SHARED;
}

/* A line of /proc/self/maps: addresses, and what of which file is there. */
struct range {
	uint64_t begin, end, offset, major, minor, inode;
};

/* "7f0a5c600000-7f0a5c601000 rw-s 00000000 00:01 1029   /memfd:name" */
static bool read_range(const char *line, struct range *r)
{
	char *at;

	r->begin = strtoull(line, &at, 16);
	if (*at != '-')
		return false;
	r->end = strtoull(at + 1, &at, 16);
	for (int i = 0; i < 6; i++)
		if (!*at++)
			return false;
	r->offset = strtoull(at, &at, 16);
	r->major = strtoull(at, &at, 16);
	if (*at != ':')
		return false;
	r->minor = strtoull(at + 1, &at, 16);
	r->inode = strtoull(at, NULL, 10);
	return true;
}

/* The next range that has the address @at; or the byte @at of the file of @wanted, elsewhere. */
static bool find(struct iw_lines *l, const struct range *wanted, uint64_t at,
		 struct range *found)
{
	char *line;

	while ((line = iw_lines_next(l))) {
		struct range *r = found;

		if (!read_range(line, r))
			continue;
		if (!wanted && r->begin <= at && at < r->end)
			return true;
		if (wanted && r->begin != wanted->begin && r->inode == wanted->inode &&
		    r->major == wanted->major && r->minor == wanted->minor &&
		    r->offset <= at && at < r->offset + (r->end - r->begin))
			return true;
	}
	return false;
}

/* Looks once through all that is mapped. */
static bool look(const struct range *wanted, uint64_t at, struct range *found)
{
	struct iw_lines l;
	bool there;

	if (!iw_lines_open(&l, "/proc/self/maps", SIZE_MAX))
		return false;
	there = find(&l, wanted, at, found);
	iw_lines_close(&l);
	return there;
}

bool iw_memory_is_mapped_twice(const void *address)
{
	int saved_errno = errno;
	uint64_t at = (uintptr_t)address;
	struct range here, other;
	bool twice = look(NULL, at, &here) && here.inode &&
		     look(&here, here.offset + (at - here.begin), &other);

	errno = saved_errno;
	return twice;
}
