/* SPDX-License-Identifier: MIT */
/*
 * A file in memory that other processes of the same user find by the number of this process.
 * errno is preserved.
 *
 * It is there under its name from one moment to the next, complete and locked (os/shared_file.h),
 * so that nobody takes it for one that a dead process has left behind. From iw_page_file_make() to
 * iw_page_file_close() fork is held (os/fork_hold.h), where the process has other threads.
 */
#ifndef IW_OS_PAGE_FILE_H
#define IW_OS_PAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IW_PAGE_FILE_PATH_BYTES 64

struct iw_page_file {
	int fd;
	char path[IW_PAGE_FILE_PATH_BYTES];
};

/*
 * Make one without a name, of that size, mode 0600, in the user's folder @folder, which is made
 * if it is not there. 0, or a negative errno:
 *   -EPERM  the folder is another user's, or others may look into it
 *   -EFBIG  the process may not make files of that size
 */
int iw_page_file_make(struct iw_page_file *f, const char *folder, uint64_t bytes);

/*
 * Give it its name, the number of this process; to be called once it is mapped. One that a dead
 * process has left there is removed; that of one that lives, in another PID namespace with the same
 * folder, stays, and the name has a further number.
 *   -EEXIST      many have that name
 *   -EOPNOTSUPP  mappings do not keep the lock in this file system
 */
int iw_page_file_publish(struct iw_page_file *f);

/*
 * Remove what processes have left in the folder that did not end with exit(3). Fork is not held: a
 * child that is forked meanwhile has the descriptors of the folder and of one file until it
 * executes another program, and the lock of that file, which is removed.
 */
void iw_page_file_sweep(const char *folder);

/* The descriptor is not needed any more; the lock lasts as long as mappings. */
void iw_page_file_close(struct iw_page_file *f);

/* Remove the name, in the process that has made it. */
void iw_page_file_remove(const struct iw_page_file *f);

/* in_child() runs in each child of fork(3), until the library is unloaded. False: no memory. */
bool iw_page_file_after_fork(void (*in_child)(void));

#endif
