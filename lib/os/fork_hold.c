/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "os/fork.h"
#include "os/fork_hold.h"
#include "os/own_lock.h"

/* Who holds fork, or forks. */
static struct iw_own_lock held;

/* While fork is held. */
static struct iw_unforked *unforked;

static void block_signals(struct iw_fork_hold *hold)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &hold->signals);
}

void iw_fork_hold(struct iw_fork_hold *hold)
{
	block_signals(hold);
	iw_own_lock(&held);
}

bool iw_fork_try_hold(struct iw_fork_hold *hold)
{
	block_signals(hold);
	if (iw_own_try_lock(&held))
		return true;
	(void)pthread_sigmask(SIG_SETMASK, &hold->signals, NULL);
	return false;
}

void iw_fork_let(struct iw_fork_hold *hold)
{
	iw_own_unlock(&held);
	(void)pthread_sigmask(SIG_SETMASK, &hold->signals, NULL);
}

int iw_unforked_enter(struct iw_unforked *u, int fd)
{
	int r = iw_shared_file_mark(fd);

	if (!r && !iw_shared_file_identify(fd, &u->file))
		r = -EBADF;
	if (r) {
		iw_shared_file_close(fd);
		return r;
	}
	for (struct iw_unforked *o = unforked; o; o = o->next)
		if (iw_unforked_fd(o) == fd)
			iw_unforked_note_closed(o);
	/* ORD fork_hold.X3: relaxed, no order needed, as fork_hold.X1. */
	ipcwait_impl_store32_relaxed(&u->fd, (uint32_t)fd);
	u->next = unforked;
	unforked = u;
	return 0;
}

static bool is_what_it_was(const struct iw_unforked *u, int fd)
{
	struct iw_shared_file_id id;

	return iw_shared_file_is_marked(fd) && iw_shared_file_identify(fd, &id) &&
	       id.device == u->file.device && id.inode == u->file.inode;
}

bool iw_unforked_is_open(const struct iw_unforked *u)
{
	return is_what_it_was(u, iw_unforked_fd(u));
}

static void close_own(struct iw_unforked *u)
{
	int fd = iw_unforked_fd(u);

	if (is_what_it_was(u, fd))
		iw_shared_file_close(fd);
	iw_unforked_note_closed(u);
}

void iw_unforked_leave(struct iw_unforked *u)
{
	struct iw_fork_hold hold;
	struct iw_unforked **at = &unforked;

	iw_fork_hold(&hold);
	while (*at && *at != u)
		at = &(*at)->next;
	if (*at)
		*at = u->next;
	close_own(u);
	iw_fork_let(&hold);
}

static void before_fork(void)
{
	iw_own_lock(&held);
}

static void in_parent(void)
{
	iw_own_unlock(&held);
}

static void in_child(void)
{
	while (unforked) {
		struct iw_unforked *u = unforked;

		unforked = u->next;
		close_own(u);
	}
	iw_own_unlock(&held);
}

static const struct iw_fork_hooks fork_hooks = { before_fork, in_parent, in_child };

static IW_FORK_CONSTRUCTOR void hook(void)
{
	(void)iw_fork_hook(IW_FORK_HOLD, &fork_hooks);
}
