/* SPDX-License-Identifier: MIT */
/*
 * A result file. It is written beside its place and renamed when it is complete, so nobody
 * ever reads half of it.
 */
#ifndef BENCH_OUTFILE_H
#define BENCH_OUTFILE_H

#include <limits.h>
#include <stdio.h>

struct outfile {
	FILE *f;
	const char *option; /* "--json", for messages */
	char path[PATH_MAX];
	char unfinished[PATH_MAX];
};

/*
 * Before anything is run: is @path a place where the file can be?
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int outfile_open(struct outfile *o, const char *option, const char *path);

/* Return: 0, or -EINVAL after one line on stderr; then @path is as it was. */
int outfile_complete(struct outfile *o);

/* Nothing if it is not open. */
void outfile_abandon(struct outfile *o);

#endif
