/* SPDX-License-Identifier: MIT */
/*
 * A file of results. It is written beside its place and renamed when it is complete, so nobody
 * ever reads half of it; what it replaces was a plain file.
 */
#ifndef TOOLS_OUTFILE_H
#define TOOLS_OUTFILE_H

#include <limits.h>
#include <stdio.h>

struct outfile {
	FILE *f;            /* NULL: it is not open */
	const char *option; /* "--json", for messages */
	const char *path;
	char unfinished[PATH_MAX]; /* where it is meanwhile */
};

/*
 * Before any work: is @path a place where the file can be?
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int outfile_check(const char *option, const char *path);

/* The same, and open it. @option and @path stay as they are until it is complete. */
int outfile_open(struct outfile *o, const char *option, const char *path);

/* Put it in its place. Return: 0, or -EINVAL after one line on stderr; then @path is as it was. */
int outfile_complete(struct outfile *o);

/* Nothing if it is not open. */
void outfile_abandon(struct outfile *o);

#endif
