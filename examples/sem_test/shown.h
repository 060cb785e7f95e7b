/* SPDX-License-Identifier: MIT */
/*
 * What a user typed, on one line of the terminal: control characters become '?'.
 */
#ifndef SEM_TEST_SHOWN_H
#define SEM_TEST_SHOWN_H

/*
 * The first @length characters of @text, all if -1, for a message; a long text is cut. The
 * result is good until the next call.
 */
const char *shown(const char *text, int length);

/* All of @text, to stdout. */
void shown_print(const char *text);

#endif
