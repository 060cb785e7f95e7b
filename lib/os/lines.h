/* SPDX-License-Identifier: MIT */
/* Reads a text file line by line, such as those in /proc. errno is preserved. */
#ifndef IW_OS_LINES_H
#define IW_OS_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct iw_lines {
	int fd;
	size_t begin, end; /* of what is not yet handed out */
	size_t left;       /* bytes that may still be read */
	bool skipping;     /* what comes first is the rest of a line that is too long */
	char text[2048];
};

/* At most @bytes_most are read of it. False if it cannot be opened. */
bool iw_lines_open(struct iw_lines *l, const char *path, size_t bytes_most);

/*
 * The next line, without its end, valid until the next call; NULL if there is none. Leaves
 * out lines that do not fit into the buffer, and a last one that is not complete.
 */
char *iw_lines_next(struct iw_lines *l);

void iw_lines_close(struct iw_lines *l);

#endif
