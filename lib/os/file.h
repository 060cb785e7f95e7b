/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_FILE_H
#define IW_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Read the beginning of a small text file, such as those in /sys. The text is terminated
 * and cut at @size - 1 bytes. Returns its length or a negative errno. errno is preserved.
 */
int iw_file_read(const char *path, char *text, size_t size);

/* One text behind the other. False, and an empty @path, if they do not fit. */
bool iw_file_join(char *path, size_t size, const char *head, const char *tail);

/* errno is preserved. */
bool iw_file_exists(const char *path);

/*
 * Write to stderr, or not, if it cannot be, or the program has begun to filter its calls. errno is
 * preserved.
 */
void iw_file_complain(const char *text, size_t size);

#endif
