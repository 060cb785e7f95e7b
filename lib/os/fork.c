/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ipcwait/impl/word.h>

#include "os/calls.h"
#include "os/fork.h"
#include "os/own_lock.h"
#include "os/pointer.h"

/* Addresses of hooks; 0: none yet. */
static struct ipcwait_word64 parts[IW_FORK_PARTS];

/* Forks take turns, and each undoes what it has done: a library that is loaded adds parts. */
static struct iw_own_lock turn;
static const struct iw_fork_hooks
	*begun[IW_FORK_PARTS]; /* protected by turn, and what follows */
static sigset_t signals;       /* that the thread had blocked before */
static bool are_blocked;       /* all of them meanwhile */

static const struct iw_fork_hooks *hooks_of(unsigned part)
{
	/* ORD fork.A1: acquire, finds what the hooks need. Pairs with fork.R1. */
	return iw_pointer(ipcwait_impl_load64_acquire(&parts[part]));
}

/* A handler that forks would wait for its own thread. Where a filter forbids it, only that. */
static bool block_signals(sigset_t *before)
{
	sigset_t all;

	if (!iw_call_allowed(IW_CALL_AGAIN))
		return false;
	(void)sigfillset(&all);
	return pthread_sigmask(SIG_SETMASK, &all, before) == 0;
}

static void begin_fork(void)
{
	sigset_t before;
	bool blocked = block_signals(&before);

	iw_own_lock(&turn);
	are_blocked = blocked;
	if (blocked)
		signals = before;
	for (unsigned i = 0; i < IW_FORK_PARTS; i++) {
		begun[i] = hooks_of(i);
		if (begun[i] && begun[i]->before)
			begun[i]->before();
	}
}

static void end_fork_in_parent(void)
{
	sigset_t before = signals;
	bool blocked = are_blocked;

	for (unsigned i = IW_FORK_PARTS; i-- > 0;)
		if (begun[i] && begun[i]->in_parent)
			begun[i]->in_parent();
	iw_own_unlock(&turn);
	if (blocked)
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_fork_in_child(void)
{
	for (unsigned i = IW_FORK_PARTS; i-- > 0;)
		if (begun[i] && begun[i]->in_child)
			begun[i]->in_child();
	iw_own_unlock(&turn);
	if (are_blocked)
		(void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

/* Once for each load of the library. False: no memory. */
static bool register_once(void)
{
	static enum { NOT_ASKED, YES, NO } is;

	if (is == NOT_ASKED)
		is = pthread_atfork(begin_fork, end_fork_in_parent, end_fork_in_child)
			     ? NO
			     : YES;
	return is == YES;
}

static IW_FORK_CONSTRUCTOR void register_first(void)
{
	(void)register_once();
}

bool iw_fork_hook(enum iw_fork_part part, const struct iw_fork_hooks *hooks)
{
	if (!register_once())
		return false;
	/* ORD fork.R1: release, what the hooks need is there. Pairs with fork.A1. */
	ipcwait_impl_store64_release(&parts[part], (uintptr_t)hooks);
	return true;
}
