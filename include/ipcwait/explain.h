/* SPDX-License-Identifier: MIT */
/*
 * Why does it sleep, why does it spin? What the library knows about one object, in words.
 *
 *	char text[IPCWAIT_EXPLAIN_BYTES];
 *
 *	ipcwait_object_set_name(&jobs.window, "jobs");
 *	...
 *	if (ipcwait_explain(&jobs.window, text, sizeof(text)) > 0)
 *		fputs(text, stderr);
 *
 * Waits are counted on objects that have a name; ipcwait_object_stats_get() of <ipcwait/stats.h>
 * returns the counts. With IPCWAIT_EXPLAIN=1 in the environment they are on all objects, and these
 * are explained on stderr when the process ends. Else a wait costs nothing more.
 *
 * The text is for people, and may be worded differently in every version.
 */
#ifndef IPCWAIT_EXPLAIN_H
#define IPCWAIT_EXPLAIN_H

#include <ipcwait/policy.h>

/* Room for any explanation. */
#define IPCWAIT_EXPLAIN_BYTES 4096

/* Longest name of an object, without its end. */
#define IPCWAIT_NAME_BYTES 31

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_explain() - what is known about an object, in words
 * @w:    the window of the object (`&sem.window`)
 * @text: filled in with lines of text and terminated, cut at @size - 1 bytes; may be NULL if
 *        @size is 0
 * @size: room in @text
 *
 * Tells the price of a sleep, the window, the waits that are remembered, and of an object with a
 * name, or with IPCWAIT_EXPLAIN=1, what has become of the waits of this process, and why they
 * slept.
 *
 * Return: the length of the whole text, even if it was cut.
 *   -EINVAL  @w is NULL or misaligned, or @text is NULL and @size is not 0
 *
 * Ordering:     none; while other threads wait it may be a few waits out of step with itself
 * Threads:      any, at any time
 * Processes:    windows are shared, counts are those of the calling process
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @w must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_explain(const struct ipcwait_window *w, char *text, size_t size);

/**
 * ipcwait_object_set_name() - name an object, and count its waits from now on
 * @w:    the window of the object (`&sem.window`)
 * @name: up to IPCWAIT_NAME_BYTES bytes without control characters, copied; "" for none
 *
 * The name belongs to the address in this process, as do the counts: an object that is made
 * where another has died goes on with both. The library keeps up to 256 objects with a name
 * or with counts, and never lets go of one.
 *
 * Return: 0.
 *   -EINVAL  @w is NULL or misaligned, or @name is NULL, too long or has control characters
 *   -ENOSPC  there is no room for another object
 *
 * Ordering:     none; whoever reads the name meanwhile may see half of it
 * Threads:      any, at any time
 * Processes:    the calling process only
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @w is not touched, only its address is kept
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_object_set_name(const struct ipcwait_window *w, const char *name);

IPCWAIT_END_DECLS

#endif
