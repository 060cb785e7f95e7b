/* SPDX-License-Identifier: MIT */
/*
 * IPCWAIT_RECORD: the true length of every contended wait, as text that bench/policy_sim
 * reads. One line of 32 bytes for each:
 *
 *	         12345 00007f3c1a2b4010
 *	ns             address of the object's window
 *
 * The file is made with all its lines, empty at first, and mapped: so it is good whenever one
 * looks, also after a crash, and nothing has to happen at exit. A child takes part in its
 * parent's file.
 */
#ifndef IW_WATCH_RECORD_H
#define IW_WATCH_RECORD_H

#include <ipcwait/policy.h>

/* Lines of a file, of which the first is a comment. */
#define IW_RECORD_LINES 32768u

/*
 * Record a wait, in the file @path, which is made by the first. If it cannot be made, or is
 * there already, that is said once and nothing is recorded. Beyond the last line nothing is.
 */
void iw_record_wait(const char *path, const struct ipcwait_window *w, uint64_t wait_ns);

#endif
