/* SPDX-License-Identifier: MIT */
/*
 * Recorded waits: a text file, one wait a line as a whole number of ns, up to 1000 s. Lines
 * that begin with '#' and empty lines are skipped.
 */
#ifndef POLICY_SIM_TRACE_H
#define POLICY_SIM_TRACE_H

#include "suite.h"

/* Return: 0, or -errno after one line on stderr that names the file, and the line if any. */
int trace_read(struct trace *t, const char *path);
void trace_destroy(struct trace *t);

#endif
