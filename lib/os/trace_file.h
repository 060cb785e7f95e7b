/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_TRACE_FILE_H
#define IW_OS_TRACE_FILE_H

#include <stddef.h>

#include <ipcwait/impl/word.h>

/* Text that this process and its children fill in. */
struct iw_trace_file {
	char *text;                  /* the content of the file, mapped */
	struct ipcwait_word32 *used; /* 0; outside the file, for whoever deals out places */
};

/*
 * Make a file of @bytes newlines, mode 0600, and map it for the rest of the process's life.
 * All of it is written, so that a full disk shows now and not as SIGBUS later. errno is
 * preserved.
 *
 * Returns 0, -EEXIST if there is something at @path, be it a dangling link, or what the
 * kernel said; then there is no file, or the one that was there.
 */
int iw_trace_file_create(struct iw_trace_file *t, const char *path, size_t bytes);

#endif
