/* SPDX-License-Identifier: MIT */
/* Only in checked builds. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/sharing.h"

/* "page is file-page or shared-anon", Documentation/admin-guide/mm/pagemap.rst */
#define SHARED (UINT64_C(1) << 61)

bool iw_memory_is_shared(const void *address)
{
	int saved_errno = errno;
	uint64_t page = 0, at = (uintptr_t)address / (uint64_t)sysconf(_SC_PAGESIZE);
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (syscall(SYS_pread64, fd, &page, sizeof(page), at * sizeof(page)) !=
		    sizeof(page))
			page = 0;
		(void)syscall(SYS_close, fd);
	}
	errno = saved_errno;
	return page & SHARED;
}
