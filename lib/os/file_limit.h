/* SPDX-License-Identifier: MIT */
/* The process's limit for the size of files, RLIMIT_FSIZE. */
#ifndef IW_OS_FILE_LIMIT_H
#define IW_OS_FILE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/*
 * A file may have @bytes. To be asked before a file of the library's own grows: beyond the limit
 * the kernel sends SIGXFSZ, which ends the program.
 */
static inline bool iw_file_may_have(uint64_t bytes)
{
	struct rlimit most;

	return getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes <= most.rlim_cur;
}

#endif
