/* SPDX-License-Identifier: MIT */
/*
 * IPCWAIT_RECORD: every contended wait, in a file of the form of <ipcwait/record.h>.
 *
 * The file is mapped and always complete: so it is good whenever one looks, also after a crash, and
 * nothing has to happen at exit. All processes that are told to record in it do, children and the
 * programs that they start among them.
 */
#ifndef IW_WATCH_RECORD_H
#define IW_WATCH_RECORD_H

#include <ipcwait/record.h>
#include <stdint.h>

#include "watch/objects.h"

/* Records that a new file can have, and those that it grows by. */
#define IW_RECORD_MOST  (UINT32_C(1) << 20)
#define IW_RECORD_CHUNK 1024u

struct iw_outcome;

/*
 * Record a wait, in the file @path, which the first opens; if it cannot be, that is said once and
 * nothing is recorded. Where there is no more room a wait is only counted.
 */
void iw_record_wait(const char *path, const struct iw_outcome *o);

/* What a sleep and its wake cost, by @c's prices; what has hardly changed is not written again. */
void iw_record_cost(const struct ipcwait_record_cost *c);

/* The process is about to end. */
void iw_record_end(void);

/* From now on, the object with its window at @window has this name. */
void iw_record_name(uint64_t window, const char name[IW_OBJECT_NAME_BYTES]);

#endif
