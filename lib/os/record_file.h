/* SPDX-License-Identifier: MIT */
/*
 * A file that several processes have mapped and that grows meanwhile: into room that was written
 * before, so that a full disk shows there and not as SIGBUS. Whoever makes it, joins it or lets it
 * grow has it for itself meanwhile (flock(2)). errno is preserved; results are 0 or a negative
 * errno.
 *
 * Between these calls no descriptor is kept: the program may close it, and open something else with
 * its number.
 */
#ifndef IW_OS_RECORD_FILE_H
#define IW_OS_RECORD_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iw_record_file {
	int fd;         /* -1: nobody has it for itself */
	bool made;      /* it was not there before */
	bool empty;     /* nothing was in it */
	uint64_t bytes; /* its size when it was opened */
	uint64_t device, inode;
	char path[PATH_MAX];
};

/*
 * Open it, make it if it is not there, mode 0600, and if it is empty write @bytes zeros.
 *   -ELOOP, -EEXIST  a link, or no regular file
 *   -EPERM           another user's
 *   -EAGAIN          somebody else has had it for long
 */
int iw_record_file_open(struct iw_record_file *f, const char *path, size_t bytes);

/* Its first @bytes, be there that much or not, for the process's life; NULL: no memory. */
void *iw_record_file_map(const struct iw_record_file *f, size_t bytes);

void iw_record_file_unmap(void *memory, size_t bytes);

/* Others may have it now. */
void iw_record_file_release(struct iw_record_file *f);

/* What was made is taken away again. */
void iw_record_file_abandon(struct iw_record_file *f);

/*
 * Open it again, without waiting.
 *   -EAGAIN  somebody else has it, or there are no descriptors: perhaps later
 *   -ESTALE  it is not the same file any more
 */
int iw_record_file_open_again(struct iw_record_file *f);

/* Write @bytes zeros at @at, while it is open. */
int iw_record_file_extend(const struct iw_record_file *f, uint64_t at, size_t bytes);

/* What a number of an error means, for people; valid for ever. */
const char *iw_record_file_error(int error);

#endif
