/* SPDX-License-Identifier: MIT */
#include "os/eventfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "os/fork.h"
#include "os/life.h"
#include "os/own_fd.h"
#include "os/own_lock.h"
#include "os/syscall.h"

#include <ipcwait/impl/word.h>

struct iw_eventfd {
	struct ipcwait_word64
		numbers; /* 1 more than its number; the witness's in the high half */
	struct ipcwait_word32 process; /* whose they are, lib/os/life.h */
	struct iw_eventfd *next;
};

/* Held by fork(3) too, so that a child has no descriptor that nobody has noted yet. */
static struct iw_own_lock lock;
static struct iw_eventfd *all; /* protected by lock */

/* What a struct iw_eventfd knows; negative: none. */
struct pair {
	int fd, witness;
};

static struct pair pair_of(const struct iw_eventfd *e)
{
	/* ORD eventfd.X1: relaxed, no order needed: the descriptors are the kernel's. */
	uint64_t n = ipcwait_impl_load64_relaxed(&e->numbers);

	return (struct pair){ (int)(uint32_t)n - 1, (int)(n >> 32) - 1 };
}

static void store(struct iw_eventfd *e, struct pair p)
{
	uint64_t n = p.fd < 0 ? 0 : (uint64_t)(p.witness + 1) << 32 | (uint32_t)(p.fd + 1);

	/* ORD eventfd.X2: relaxed, no order needed, as eventfd.X1. */
	ipcwait_impl_store64_relaxed(&e->numbers, n);
	/* ORD eventfd.R1: release, after the numbers. Pairs with eventfd.A1. */
	ipcwait_impl_store32_release(&e->process, iw_process_generation());
}

/*
 * The kernel has just given out these numbers. Where another eventfd of the library had them the
 * program has closed it, and its witness would answer for the new one.
 */
static void take_from_others_locked(const struct iw_eventfd *e, struct pair p)
{
	for (struct iw_eventfd *o = all; o; o = o->next) {
		struct pair old = pair_of(o);

		if (o != e && (old.fd == p.fd || old.witness == p.witness))
			store(o, (struct pair){ -1, -1 });
	}
}

static bool is_own(const struct iw_eventfd *e)
{
	/* ORD eventfd.A1: acquire, before the numbers. Pairs with eventfd.R1. */
	return ipcwait_impl_load32_acquire(&e->process) == iw_process_generation();
}

static int ask_witness(struct pair p, int operation)
{
	struct epoll_event nothing = { 0 };

	return (int)iw_syscall(SYS_epoll_ctl, p.witness, operation, p.fd, (long)&nothing, 0,
			       0);
}

/* Both numbers mean what they meant when they were noted. */
static bool is_there(struct pair p)
{
	return p.fd >= 0 && ask_witness(p, EPOLL_CTL_MOD) == 0;
}

static void drop(struct pair p)
{
	iw_own_fd_close(p.fd);
	iw_own_fd_close(p.witness);
}

/* It gets a number whose file is the library's. */
static int move(struct pair *p, int number)
{
	int fd = (int)iw_syscall(SYS_dup3, p->fd, number, O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return fd;
	iw_own_fd_close(p->fd);
	p->fd = fd;
	return 0;
}

static int make_event(void)
{
	return iw_own_fd(
		(int)iw_syscall(SYS_eventfd2, 1, EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0, 0));
}

static int make_witness(void)
{
	return iw_own_fd((int)iw_syscall(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0, 0, 0, 0));
}

/* @number: of the eventfd, if it is not negative. 0, or a negative errno. */
static int make(struct pair *p, int number)
{
	int r;

	p->fd = make_event();
	if (p->fd < 0)
		return p->fd;
	p->witness = make_witness();
	if (p->witness < 0) {
		iw_own_fd_close(p->fd);
		return p->witness;
	}
	r = number < 0 ? 0 : move(p, number);
	if (!r)
		r = ask_witness(*p, EPOLL_CTL_ADD);
	if (!r)
		return 0;
	/* A number that the program polls stays an eventfd: closed, it would be the next file's. */
	if (p->fd != number)
		iw_own_fd_close(p->fd);
	iw_own_fd_close(p->witness);
	return r;
}

/* In the place of the parent's, or of none. What cannot be had is tried again at the next use. */
static int renew_locked(struct iw_eventfd *e)
{
	struct pair old = pair_of(e), p = { -1, -1 };
	bool there = is_there(old);
	int r = make(&p, there ? old.fd : -1);

	if (r && is_there(old))
		return r;
	if (there)
		iw_own_fd_close(old.witness);
	if (r)
		p = (struct pair){ -1, -1 };
	else
		take_from_others_locked(e, p);
	store(e, p);
	return r ? r : p.fd;
}

struct iw_eventfd *iw_eventfd_new(void)
{
	int saved_errno = errno;
	struct iw_eventfd *e = calloc(1, sizeof(*e));

	errno = saved_errno;
	if (!e)
		return NULL;
	iw_own_lock(&lock);
	e->next = all;
	all = e;
	iw_own_unlock(&lock);
	return e;
}

/* After a fork, unless the program has closed it. */
static void become_own(struct iw_eventfd *e)
{
	iw_own_lock(&lock);
	if (!is_own(e) && is_there(pair_of(e)))
		(void)renew_locked(e);
	iw_own_unlock(&lock);
}

int iw_eventfd_number(struct iw_eventfd *e)
{
	struct pair p;
	int r;

	iw_own_lock(&lock);
	p = pair_of(e);
	r = is_own(e) && is_there(p) ? p.fd : renew_locked(e);
	iw_own_unlock(&lock);
	return r;
}

/* Negative: it is not there, or not this process's. */
static int proven(struct iw_eventfd *e)
{
	struct pair p;

	if (!is_own(e))
		become_own(e);
	if (!is_own(e))
		return -1;
	p = pair_of(e);
	return is_there(p) ? p.fd : -1;
}

/* Fails only if it has been set 2^64 - 2 times since it was cleared, and so is readable. */
void iw_eventfd_set(struct iw_eventfd *e)
{
	const uint64_t one = 1;
	int fd = proven(e);

	if (fd >= 0)
		(void)iw_syscall(SYS_write, fd, (long)&one, sizeof(one), 0, 0, 0);
}

/* Fails only if it is not readable. */
void iw_eventfd_clear(struct iw_eventfd *e)
{
	uint64_t count;
	int fd = proven(e);

	if (fd >= 0)
		(void)iw_syscall(SYS_read, fd, (long)&count, sizeof(count), 0, 0, 0);
}

void iw_eventfd_end(struct iw_eventfd *e)
{
	struct iw_eventfd **at = &all;
	struct pair p;

	iw_own_lock(&lock);
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	p = pair_of(e);
	if (is_there(p))
		drop(p);
	iw_own_unlock(&lock);
	free(e);
}

static void before_fork(void)
{
	iw_own_lock(&lock);
}

static void in_parent(void)
{
	iw_own_unlock(&lock);
}

static void in_child(void)
{
	lock = (struct iw_own_lock){ { 0 } };
}

static const struct iw_fork_hooks fork_hooks = { before_fork, in_parent, in_child };

static IW_FORK_CONSTRUCTOR void hook(void)
{
	(void)iw_fork_hook(IW_FORK_EVENTFD, &fork_hooks);
}
