/* SPDX-License-Identifier: MIT */
/*
 * Files that the program believes because nobody else can have written them. errno is
 * preserved; results are 0, a count, or a negative errno.
 */
#ifndef IW_OS_PRIVATE_FILE_H
#define IW_OS_PRIVATE_FILE_H

#include <stddef.h>

/*
 * Open for reading, without waiting and without following a link in the last part of the
 * path. Returns a descriptor.
 *   -ENOENT, -ENOTDIR, -EACCES  there is none, or none for us
 *   -ELOOP   a symbolic link
 *   -EINVAL  not a regular file
 *   -EPERM   it belongs to neither the effective user nor root, or others may write to it
 *   -EFBIG   it is longer than @bytes_most
 */
int iw_private_file_open(const char *path, size_t bytes_most);

/* Read up to @size bytes; 0 at the end. */
int iw_private_file_read(int fd, char *bytes, size_t size);

void iw_private_file_close(int fd);

/*
 * Replace the file by one with this content and mode 0600, in one step: a reader finds the
 * old content or the new. The directory must exist.
 */
int iw_private_file_write(const char *path, const char *bytes, size_t size);

/* Make the directory that @path is in, and that one's, with mode 0700. */
int iw_private_file_make_room(const char *path);

#endif
