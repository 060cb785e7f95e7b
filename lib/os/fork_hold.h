/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that a child of fork(3) must not have: it would keep the locks that belong to them
 * for its whole life.
 *
 * _Fork(3), clone(2) and vfork(2) are not noticed. errno is preserved.
 */
#ifndef IW_OS_FORK_HOLD_H
#define IW_OS_FORK_HOLD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/impl/word.h>

#include "os/shared_file.h"

struct iw_fork_hold {
	sigset_t signals; /* of the thread, before */
};

/*
 * From here to iw_fork_let() no thread of the process forks, and no signal handler runs in the
 * calling thread. For a few system calls only: fork(3) waits meanwhile. No memory is allocated and
 * no lock taken that a hook of fork may hold.
 */
void iw_fork_hold(struct iw_fork_hold *hold);

/* The same, unless another thread holds fork, or is in it. False: nothing is held. */
bool iw_fork_try_hold(struct iw_fork_hold *hold);

void iw_fork_let(struct iw_fork_hold *hold);

/*
 * A descriptor that is closed in each child. The program may close it too: with it goes the lock,
 * and the number may come back for the same file. So its description is marked, and of two that
 * have had one number the first is known to be closed.
 */
struct iw_unforked {
	struct iw_unforked *next;
	struct ipcwait_word32 fd; /* -1: closed */
	struct iw_shared_file_id file;
};

/*
 * While fork is held. @fd is the struct's from then on, and its description the library's own. 0,
 * or a negative errno: it is closed.
 */
int iw_unforked_enter(struct iw_unforked *u, int fd);

static inline int iw_unforked_fd(const struct iw_unforked *u)
{
	/* ORD fork_hold.X1: relaxed, no order needed: a closed one is told by the kernel. */
	return (int)ipcwait_impl_load32_relaxed(&u->fd);
}

/* Is, or becomes, closed. */
static inline void iw_unforked_note_closed(struct iw_unforked *u)
{
	/* ORD fork_hold.X2: relaxed, no order needed, as fork_hold.X1. */
	ipcwait_impl_store32_relaxed(&u->fd, (uint32_t)-1);
}

/* The descriptor is still what it was: the program has not closed it. Two system calls. */
bool iw_unforked_is_open(const struct iw_unforked *u);

/* Closes it, unless the program has done so. In a child too. */
void iw_unforked_leave(struct iw_unforked *u);

#endif
