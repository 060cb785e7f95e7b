/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_FILE_H
#define IW_OS_FILE_H

#include <stddef.h>

/*
 * Read the beginning of a small text file, such as those in /sys. The text is terminated
 * and cut at @size - 1 bytes. Returns its length or a negative errno. errno is preserved.
 */
int iw_file_read(const char *path, char *text, size_t size);

/* Write to stderr, or not, if it cannot be. errno is preserved. */
void iw_file_complain(const char *text, size_t size);

#endif
