/* SPDX-License-Identifier: MIT */
/*
 * Files whose memory processes share: their size, their mappings, and which of the processes live.
 * Results are 0, a count or a descriptor, or a negative errno; errno is preserved.
 *
 * Whether a process lives is told by a lock that it holds for as long as it does (F_OFD_SETLK in
 * fcntl(2)). Such a lock belongs to an open file description, and goes when nothing refers to that
 * any more. So each participant opens the file anew, locks, and keeps of the description nothing
 * but a mapping, which children of fork(2) do not inherit. The lock is gone when that mapping is:
 * when it is unmapped, when the process has replaced its program, or when the last of its threads
 * is gone; never before, whatever descriptors the program closes. It is the same in all PID
 * namespaces, and no process has it by accident, as pids are used again.
 *
 * Exception: in some file systems a mapping refers to another description, of a file below
 * (overlayfs). There the lock is gone as soon as the descriptor is closed, and who goes by the lock
 * asks iw_shared_file_mapping_keeps_lock() first.
 *
 * Locks are numbered; their bytes lie where no file reaches.
 */
#ifndef IW_OS_SHARED_FILE_H
#define IW_OS_SHARED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Its size, in bytes. -EBADF; -EINVAL: not a regular file; -EACCES: not open for both reading and
 * writing.
 */
int iw_shared_file_size(int fd, uint64_t *bytes);

/*
 * Give it that size, with room for it in the file system. -ENOSPC, -EPERM, ...; -EFBIG also where
 * the process's limit for files is lower: there is no SIGXFSZ.
 */
int iw_shared_file_set_size(int fd, uint64_t bytes);

/*
 * Let nobody change the size again. Only a memfd can be sealed, and only one that was made for it.
 */
void iw_shared_file_seal(int fd);

/* A description of its own of the same file; through /proc. */
int iw_shared_file_open_anew(int fd);

/*
 * Open a regular file of this very size that another process has open, by its path in /proc.
 *   -ENOENT, -EACCES, ...  there is none, or none for us
 *   -EINVAL  something else is there
 */
int iw_shared_file_open_of(const char *path, uint64_t bytes);

/* Another descriptor of the same description. */
int iw_shared_file_keep(int fd);

/*
 * Tell a description of the library's from others of the same file. The mark is the signal of
 * F_SETSIG in fcntl(2): who asks for no signals gets none.
 */
int iw_shared_file_mark(int fd);
bool iw_shared_file_is_marked(int fd);

/* Which file it is; no other has the same for as long as something refers to it. */
struct iw_shared_file_id {
	uint64_t device, inode;
};

/* False if @fd is not open. */
bool iw_shared_file_identify(int fd, struct iw_shared_file_id *id);

void iw_shared_file_close(int fd);

/* Lock @number in the description behind @fd. -EAGAIN: another has it. */
int iw_shared_file_lock(int fd, uint32_t number);

/* The lock @number goes, also where a child of fork(2) has the same description. */
void iw_shared_file_unlock(int fd, uint32_t number);

/*
 * Whether a mapping of the file keeps the locks of its description: 1, 0 or a negative errno. Tried
 * with lock @number, which nobody else tries at the same time; that of @fd's description must not
 * have it. While fork is held (os/fork_hold.h).
 */
int iw_shared_file_mapping_keeps_lock(int fd, uint32_t number);

/* Proven: no description but the one behind @fd has lock @number. */
bool iw_shared_file_lock_is_free(int fd, uint32_t number);

/* Memory of the first @bytes; NULL: no memory. Children have it if @inherited. */
void *iw_shared_file_map(int fd, size_t bytes, bool inherited);

/*
 * Put the @bytes from @offset on in the place of @memory; all three are multiples of a page.
 * Children have it. False: @memory is as it was.
 */
bool iw_shared_file_lay(int fd, uint64_t offset, void *memory, size_t bytes);

void iw_shared_file_unmap(void *memory, size_t bytes);

#endif
