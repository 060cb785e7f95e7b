/* SPDX-License-Identifier: MIT */
/* Errors are one line on stderr, whatever the user typed. */
#ifndef CLI_COMPLAIN_H
#define CLI_COMPLAIN_H

/* What main() returns. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* "ipcwait ...", the text and a newline. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* The same for an argument that is wrong. Return: EXIT_USAGE, always. */
__attribute__((format(printf, 1, 2))) int refuse(const char *format, ...);

/* Up to @length characters of @text, all if -1, with '?' for control characters and "..."
 * for what is too long. Valid until the next call. */
const char *shown(const char *text, int length);

#endif
