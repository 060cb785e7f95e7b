/* SPDX-License-Identifier: MIT */
/*
 * Filters of system calls (seccomp(2)), which know what the program calls, and not what the module
 * calls besides.
 *
 * A filter that the program begins, by prctl(2) or syscall(2), concerns all calls from then on: the
 * module forbids itself every call of its own before it passes the call on (lib/os/calls.h). It
 * forbids them to the whole process, also where the filter is one thread's.
 *
 * A filter that was there when the module was loaded has let the loader open files and read them.
 * All other calls of the module are forbidden, except those that `ipcwait run` has found to be
 * allowed.
 */
#ifndef IW_PRELOAD_FILTER_H
#define IW_PRELOAD_FILTER_H

#include <stdbool.h>

/* The call prctl(@a, @b, @c) or seccomp(@a, @b, @c) is one that begins a filter. */
bool iw_filter_begins_by_prctl(long a, long b, long c);
bool iw_filter_begins(long a, long b, long c);

/*
 * Before such a call, and after it with its result, which is returned, and whether the call before
 * has noted it: not in a child of vfork(2), whose memory is its parent's. errno is preserved.
 */
bool iw_filter_before(bool all_threads);
long iw_filter_after(long result, bool noted);

#endif
