/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>

#include "module.h"
#include "original.h"
#include "signals.h"

_Thread_local struct handled iw_handled __attribute__((tls_model("initial-exec")));

typedef void handler(int);
typedef void long_handler(int, siginfo_t *, void *);

/*
 * What the program has installed last for each signal. It stays here when the program goes back to
 * SIG_DFL, which the kernel knows: a child of vfork(2) does so in its parent's memory.
 */
static struct program_handler {
	struct ipcwait_word64 function;
	struct ipcwait_word32 restarts;
} handlers[_NSIG];

static struct program_handler *of_signal(int number)
{
	return number > 0 && number < _NSIG ? &handlers[number] : NULL;
}

/* In the place of all of them. A handler with one argument does not look at the others. */
static void count_and_call(int number, siginfo_t *info, void *context)
{
	const struct program_handler *h = &handlers[number];
	/* ORD signals.A1: acquire, what the program prepared for it. Pairs with signals.R1 and
	 * signals.R2. */
	uint64_t function = ipcwait_impl_load64_acquire(&h->function);

	iw_handled.any++;
	/* ORD signals.X1: relaxed, hint: changed together with the kernel's, not at once. */
	if (!ipcwait_impl_load32_relaxed(&h->restarts))
		iw_handled.interrupting++;
	((long_handler *)(uintptr_t)function)(number, info, context);
}

#define STAND_IN ((handler *)(uintptr_t)count_and_call)

static bool is_function(handler *f)
{
	return f != SIG_DFL && f != SIG_IGN && f != SIG_ERR && f != SIG_HOLD;
}

static handler *installed_now(int number)
{
	struct sigaction now;

	return original()->sigaction(number, NULL, &now) == 0 ? now.sa_handler : SIG_ERR;
}

/*
 * Somebody has installed another handler past this module, who may call the one that was there
 * before, which was ours: then it must go on to what it stood for.
 */
static bool is_called_by_others(int number, handler *before)
{
	handler *now = installed_now(number);

	return before != SIG_DFL && is_function(now) && now != STAND_IN;
}

/* What to install for @f. *@before is what was installed for it before. */
static handler *stand_in(int number, handler *f, handler **before)
{
	struct program_handler *h = of_signal(number);

	*before = SIG_DFL;
	if (!h)
		return f;
	/* ORD signals.X2: relaxed, no order needed: the program's own, or another's that wins. */
	*before = (handler *)(uintptr_t)ipcwait_impl_load64_relaxed(&h->function);
	if (!is_function(f) || is_called_by_others(number, *before))
		return f;
	/* ORD signals.R1: release, to the handler. Pairs with signals.A1. */
	ipcwait_impl_store64_release(&h->function, (uintptr_t)f);
	return STAND_IN;
}

/* What the program is shown of what was @installed. */
static handler *shown(handler *installed, handler *before)
{
	return installed == STAND_IN ? before : installed;
}

/* The kernel has refused: what was there before is still there. */
static void take_back(int number, handler *before)
{
	struct program_handler *h = of_signal(number);

	/* ORD signals.R2: release, as signals.R1. Pairs with signals.A1. */
	if (h)
		ipcwait_impl_store64_release(&h->function, (uintptr_t)before);
}

/*
 * The flags are the kernel's: signal() and siginterrupt() have their own ideas of them. Those of
 * another handler than ours say nothing.
 */
static void note_flags(int number)
{
	struct program_handler *h = of_signal(number);
	struct sigaction now;
	int saved_errno = errno;

	/* ORD signals.X3: relaxed, hint, as signals.X1. */
	if (h && original()->sigaction(number, NULL, &now) == 0 &&
	    now.sa_handler == STAND_IN)
		ipcwait_impl_store32_relaxed(&h->restarts,
					     (now.sa_flags & SA_RESTART) != 0);
	errno = saved_errno;
}

IW_INTERPOSED int sigaction(int number, const struct sigaction *restrict action,
			    struct sigaction *restrict old)
{
	struct sigaction ours;
	handler *before;
	int r;

	if (!action) {
		(void)stand_in(number, SIG_DFL, &before);
		r = original()->sigaction(number, NULL, old);
	} else {
		ours = *action;
		ours.sa_handler = stand_in(number, action->sa_handler, &before);
		r = original()->sigaction(number, &ours, old);
		if (r)
			take_back(number, before);
		else
			note_flags(number);
	}
	if (r == 0 && old)
		old->sa_handler = shown(old->sa_handler, before);
	return r;
}

/* By its other name. */
IW_INTERPOSED int __sigaction(int number, const struct sigaction *restrict action,
			      struct sigaction *restrict old);

IW_INTERPOSED int __sigaction(int number, const struct sigaction *restrict action,
			      struct sigaction *restrict old)
{
	return sigaction(number, action, old);
}

static handler *install(handler *(*with)(int, handler *), int number, handler *f)
{
	handler *before, *ours = stand_in(number, f, &before), *old = with(number, ours);

	if (old == SIG_ERR)
		take_back(number, before);
	else
		note_flags(number);
	return shown(old, before);
}

IW_INTERPOSED handler *signal(int number, handler *f)
{
	return install(original()->signal, number, f);
}

/* In no header any more, and in libc for old programs. */
IW_INTERPOSED handler *bsd_signal(int number, handler *f);

IW_INTERPOSED handler *bsd_signal(int number, handler *f)
{
	return install(original()->signal, number, f);
}

IW_INTERPOSED handler *ssignal(int number, handler *f)
{
	return install(original()->signal, number, f);
}

IW_INTERPOSED handler *sysv_signal(int number, handler *f)
{
	return install(original()->sysv_signal, number, f);
}

IW_INTERPOSED handler *__sysv_signal(int number, handler *f)
{
	return install(original()->sysv_signal, number, f);
}

IW_INTERPOSED handler *sigset(int number, handler *f)
{
	return install(original()->sigset, number, f);
}

IW_INTERPOSED int siginterrupt(int number, int interrupts)
{
	int r = original()->siginterrupt(number, interrupts);

	if (r == 0)
		note_flags(number);
	return r;
}
