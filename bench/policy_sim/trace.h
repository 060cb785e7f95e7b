/* SPDX-License-Identifier: MIT */
/*
 * Recorded waits: a text file, one wait a line as a whole number of ns, up to 1000 s. Lines
 * that begin with '#' and empty lines are skipped. What `ipcwait report --waits` writes is such a
 * file, but for a second column, the object, which is left out.
 */
#ifndef POLICY_SIM_TRACE_H
#define POLICY_SIM_TRACE_H

#include "suite.h"

/*
 * The traces that come with the source, in traces/, if it is still where it was built from.
 * Returns their number. The paths live as long as the process.
 */
size_t trace_find_recorded(const char *paths[TRACES_MOST]);

/* Return: 0, or -errno after one line on stderr that names the file, and the line if any. */
int trace_read(struct trace *t, const char *path);
void trace_destroy(struct trace *t);

#endif
