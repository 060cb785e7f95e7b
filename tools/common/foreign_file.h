/* SPDX-License-Identifier: MIT */
/*
 * Files that another user has made, or has named. Nothing but a regular file is opened, because
 * to open a device may be to do something; and what is read is a copy, because the file may change
 * and become shorter at any time.
 */
#ifndef TOOLS_FOREIGN_FILE_H
#define TOOLS_FOREIGN_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Open a regular file for reading. @flags: 0 or O_NOFOLLOW. @st may be NULL. Return: a descriptor,
 * or a negative errno, -EINVAL for what is no regular file, or one of the kernel's.
 */
int foreign_file_open(int folder, const char *path, int flags, struct stat *st);

/* The same, also of a file of the kernel's: of a path that the caller knows. */
int foreign_file_open_any(const char *path);

/*
 * Its content in memory of this process, to be given to foreign_file_free(). Holes cost no memory.
 * NULL: it is empty, has more than @most bytes, became shorter meanwhile, or there is no memory.
 */
void *foreign_file_copy(int fd, uint64_t most, size_t *bytes);

/* @copy may be NULL. */
void foreign_file_free(const void *copy, size_t bytes);

#endif
