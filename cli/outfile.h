/* SPDX-License-Identifier: MIT */
/* A file of results: nobody ever reads half of it, and what it replaces was a plain file. */
#ifndef CLI_OUTFILE_H
#define CLI_OUTFILE_H

#include <limits.h>
#include <stdio.h>

struct outfile {
	FILE *f;
	const char *option; /* for messages */
	const char *path;
	char unfinished[PATH_MAX];
};

/* Before any work: could it be written? 0, or an exit status after a message. */
int outfile_check(const char *option, const char *path);

/* Begin, and put the whole in place. 0, or an exit status after a message. */
int outfile_begin(struct outfile *o, const char *option, const char *path);
int outfile_complete(struct outfile *o);
void outfile_abandon(struct outfile *o);

#endif
