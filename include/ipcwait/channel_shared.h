/* SPDX-License-Identifier: MIT */
/*
 * Channels between processes, in a memfd or another file whose memory they share. Made and joined
 * here; used with the functions of <ipcwait/channel.h>.
 *
 *	struct ipcwait_channel_params params = { .elem_size = sizeof(struct job), .capacity = 64 };
 *	int fd = memfd_create("jobs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
 *	struct ipcwait_channel *jobs;
 *
 *	if (ipcwait_channel_create_shared(fd, &params, &jobs) ||    // process A, which hands fd on
 *	    ipcwait_channel_send(jobs, &job))
 *		...
 *
 *	if (ipcwait_channel_attach(fd, &jobs))                      // process B
 *		...
 *	while (ipcwait_channel_recv(jobs, &job) == 0)
 *		work(&job);
 *
 * Cost: three atomic operations for a send and for a receive, and no system call, as long as nobody
 * has to wait. Each channel keeps one descriptor.
 *
 * Death: a process may be killed at any moment. What it was just putting in was not sent; what it
 * was just taking out is lost, one element for each thread that was receiving; everything else
 * goes on. Others notice when the dead is in their way, a quarter of a second later at the most. A
 * process counts as dead when the kernel says that it is: its part ends with the last of its
 * threads, or with exec(3), and never because it is slow, stopped, or in another PID namespace.
 *
 * Where a mapping does not keep a lock of its file, as on overlayfs (the root of most containers),
 * each part keeps a second descriptor, by which others see that its process lives. Sends and
 * receives take 0.3 us more there, and say -EBADF once the program has closed that descriptor.
 *
 * Trust: each process reads the sizes once, and checks them. Whatever others write into the file
 * later, calls return, elements may be wrong, and nothing outside the file is read or written; some
 * damage is noticed, and then calls say -EBADMSG. One thing cannot be prevented: who can make the
 * file shorter ends the others by SIGBUS. A memfd made with MFD_ALLOW_SEALING is sealed against it.
 *
 * fork(2): the child has no part in the parent's channels. Sends, receives and close say -EPERM
 * there; ipcwait_channel_destroy() ends its copy. It may attach. (A kernel before 4.14 cannot tell
 * the child from its parent: the child then must not use the channel.)
 *
 * Limits: not with capacity 0, .elem_fini, or an eventfd. 64 parts in one channel at a time, of
 * which a process has one for each time that it attaches. Needs /proc. A child of clone(2),
 * vfork(2) or _Fork(3) that is made while another thread attaches keeps that part's number for its
 * life. The program must not lock the file as a whole (fcntl(2)): that locks out those who attach,
 * and hides deaths.
 */
#ifndef IPCWAIT_CHANNEL_SHARED_H
#define IPCWAIT_CHANNEL_SHARED_H

#include <ipcwait/channel.h>

/* What processes have left behind, in sum over the life of the channel. */
struct ipcwait_channel_shared_stats {
	uint64_t size;      /* bytes of this struct that are filled in */
	uint64_t lost;      /* elements that died with their receivers */
	uint64_t recovered; /* sends and receives in which a process died, or was killed */
};

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_channel_create_shared() - make a channel in a file, and take part in it
 * @fd:     an empty memfd or other file, open for reading and writing
 * @params: what of
 * @ch:     is set to the calling process's part
 *
 * The file gets its size, with room for it in the file system, and is sealed if it can be. The
 * caller may close @fd afterwards, or hand it to others, which attach. The file's content outlives
 * all of them. A memfd has memory for what was sent through it, and none before.
 *
 * Return: 0.
 *   -EEXIST  the file is not empty, or another is making a channel of it
 *   -EINVAL  @params or @ch is NULL; a member is out of its range, the capacity 0 or .elem_fini
 *            set; or @fd is not a file with memory
 *   -EBADF   @fd is not open
 *   -EACCES  @fd is not open for both, or the process may not open the file anew
 *   -ENOMEM, -ENOSPC, -EFBIG, -EMFILE, ...  as fallocate(2), open(2) and mmap(2)
 *
 * Ordering:     none; who attaches sees a complete channel or none
 * Threads:      any
 * Processes:    any
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the part begins here, and ends with ipcwait_channel_destroy() or the process
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_create_shared(
	int fd, const struct ipcwait_channel_params *params, struct ipcwait_channel **ch);

/**
 * ipcwait_channel_attach() - take part in a channel that another has made
 * @fd: its file, open for reading and writing
 * @ch: is set to the calling process's part
 *
 * How large its elements are the other has said: see ipcwait_channel_elem_size().
 *
 * Return: 0.
 *   -EAGAIN   there is no channel in it yet
 *   -EBADMSG  what is in it is no channel, or one of another kind of machine, or the file does not
 *             have the length that it says
 *   -EPROTO   the channel was made for another IPCWAIT_LAYOUT
 *   -EUSERS   64 take part already
 *   -EINVAL   @ch is NULL, or @fd is not a file with memory
 *   -EBADF, -EACCES, -ENOMEM, -EMFILE, ...  as ipcwait_channel_create_shared()
 *
 * Ordering:     acquire: sees what came before the channel was made
 * Threads:      any
 * Processes:    any
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_channel_create_shared(); @fd may be closed
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_attach(int fd,
							  struct ipcwait_channel **ch);

/**
 * ipcwait_channel_shared_stats_get() - what processes that died have left behind
 * @ch:   a channel between processes
 * @st:   is filled in
 * @size: sizeof(*st)
 *
 * Return: how many bytes of @st were filled in, which may be fewer than @size.
 *   -EINVAL   @ch or @st is NULL, or @size is below that of the first member
 *   -ENOTSUP  @ch is a channel of this process only
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    any
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_channel_shared_stats_get(const struct ipcwait_channel *ch,
						 struct ipcwait_channel_shared_stats *st,
						 size_t size);

IPCWAIT_END_DECLS

#endif
