/* SPDX-License-Identifier: MIT */
/* The libraries that this process runs with. */
#include "info.h"

#include <ipcwait/base.h>

/* Other C libraries lack these. */
#if __has_include(<gnu/libc-version.h>)
#include <gnu/libc-version.h>
#define GLIBC_VERSION gnu_get_libc_version()
#else
#define GLIBC_VERSION NULL
#endif
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define RSEQ_KNOWN true
#define RSEQ_SIZE  __rseq_size
#else
#define RSEQ_KNOWN false
#define RSEQ_SIZE  0u
#endif

/* With it the library notices that the kernel has switched a spinning thread out. */
static void put_rseq(struct info *info)
{
	if (RSEQ_KNOWN)
		info_put_boolean(info, "rseq_registered", RSEQ_SIZE > 0);
	else
		info_put_missing(info, "rseq_registered", "this C library does not tell");
}

void info_read_library(struct info *info)
{
	static const char saved[] = "it belongs to a process, and this is a saved tree";
	const char *glibc = GLIBC_VERSION;

	info_put_text(info, "libipcwait_version", ipcwait_version());
	info_put_text(info, "libipcwait_header_version", HEADER_VERSION);
	if (info_is_saved_tree(info)) {
		info_put_missing(info, "glibc_version", saved);
		info_put_missing(info, "rseq_registered", saved);
		return;
	}
	if (glibc)
		info_put_text(info, "glibc_version", glibc);
	else
		info_put_missing(info, "glibc_version", "another C library");
	put_rseq(info);
}
