/* SPDX-License-Identifier: MIT */
/* How a file begins, and what it is told of a process. */
#ifndef IW_WATCH_RECORD_BEGIN_H
#define IW_WATCH_RECORD_BEGIN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/record.h>

#include "os/record_file.h"

/* Where records begin in a new file. */
#define IW_RECORD_FIRST_AT 4096u

uint32_t iw_record_pid(void);

/* With the number of this process for %p, and % for %%. False: it does not fit. */
bool iw_record_expand(char path[PATH_MAX], const char *text);

/* Where a file is mapped, and what its head said when it was checked. That may change later. */
struct iw_record_found {
	struct ipcwait_record_head *head;
	uint64_t first_at, most;
};

/*
 * Write the head of a file that was empty, or check that of another. 0, and what was found;
 * -EEXIST: it is no record, or of another version; -ENOMEM.
 */
int iw_record_begin_file(const struct iw_record_file *f, struct iw_record_found *found);

/* Who this process is; @parent is 0, or who it is a copy of. */
void iw_record_tell_process(uint32_t parent);

/* What lies where in its memory: names of objects, code. */
void iw_record_tell_memory(void);

/* Its code again, if it has loaded more. */
void iw_record_tell_more_code(void);

#endif
