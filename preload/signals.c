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
 * What the program has installed, for each signal in one of two places: a new one goes into the
 * place that the kernel does not call by now, and the kernel's own step changes over. So a signal
 * meets the old one or the new one, with its flags. A place keeps what it has when the program goes
 * back to SIG_DFL.
 */
static struct program_handler {
	struct ipcwait_word64 function;
	struct ipcwait_word32 restarts;
} handlers[_NSIG][2];

static void count_and_call(const struct program_handler *h, int number, siginfo_t *info,
			   void *context)
{
	/* ORD signals.A1: acquire, what the program prepared for it. Pairs with signals.R1. */
	uint64_t function = ipcwait_impl_load64_acquire(&h->function);

	iw_handled.any++;
	/* ORD signals.X1: relaxed, hint: known for certain only after it is installed. */
	if (!ipcwait_impl_load32_relaxed(&h->restarts))
		iw_handled.interrupting++;
	((long_handler *)(uintptr_t)function)(number, info, context);
}

/* In the place of all of them. A handler with one argument does not look at the others. */
static void stand_in_0(int number, siginfo_t *info, void *context)
{
	count_and_call(&handlers[number][0], number, info, context);
}

static void stand_in_1(int number, siginfo_t *info, void *context)
{
	count_and_call(&handlers[number][1], number, info, context);
}

static long_handler *const stand_ins[2] = { stand_in_0, stand_in_1 };

static bool is_stand_in(handler *f, unsigned place)
{
	return (uintptr_t)f == (uintptr_t)stand_ins[place];
}

static bool is_function(handler *f)
{
	return f != SIG_DFL && f != SIG_IGN && f != SIG_ERR && f != SIG_HOLD;
}

/* Where the stand-in @f has its handler; NULL if it is none. */
static struct program_handler *behind(int number, handler *f)
{
	for (unsigned i = 0; i < 2; i++)
		if (is_stand_in(f, i))
			return &handlers[number][i];
	return NULL;
}

/* What the program is shown of what is, or was, @installed. */
static handler *shown(int number, handler *installed)
{
	struct program_handler *h = behind(number, installed);

	/* ORD signals.X2: relaxed, no order needed: the program's own, or another's that wins. */
	return h ? (handler *)(uintptr_t)ipcwait_impl_load64_relaxed(&h->function)
		 : installed;
}

static bool is_signal(int number)
{
	return number > 0 && number < _NSIG;
}

/* Somebody may have been shown one of ours as what was there before. */
static bool is_used(int number)
{
	const struct program_handler *h = handlers[number];

	/* ORD signals.X4: relaxed, no order needed: by whoever has been before. */
	return ipcwait_impl_load64_relaxed(&h[0].function) ||
	       ipcwait_impl_load64_relaxed(&h[1].function);
}

/*
 * What to install for @f: itself also where somebody has installed another handler past this
 * module. He may call the one that was there before, which was ours, and must go on to what it
 * stood for.
 */
static handler *stand_in_for(int number, handler *f)
{
	struct sigaction now;
	unsigned place;

	if (!is_signal(number) || !is_function(f) ||
	    original()->sigaction(number, NULL, &now) != 0)
		return f;
	if (is_function(now.sa_handler) && !behind(number, now.sa_handler) &&
	    is_used(number))
		return f;
	place = is_stand_in(now.sa_handler, 0);
	/* ORD signals.R1: release, to the handler. Pairs with signals.A1. */
	ipcwait_impl_store64_release(&handlers[number][place].function, (uintptr_t)f);
	return (handler *)(uintptr_t)stand_ins[place];
}

/* The flags are the kernel's: signal() and siginterrupt() have their own ideas of them. */
static void note_flags(int number)
{
	struct program_handler *h = NULL;
	struct sigaction now;
	int saved_errno = errno;

	if (is_signal(number) && original()->sigaction(number, NULL, &now) == 0)
		h = behind(number, now.sa_handler);
	/* ORD signals.X3: relaxed, hint, as signals.X1. */
	if (h)
		ipcwait_impl_store32_relaxed(&h->restarts,
					     (now.sa_flags & SA_RESTART) != 0);
	errno = saved_errno;
}

IW_INTERPOSED int sigaction(int number, const struct sigaction *restrict action,
			    struct sigaction *restrict old)
{
	struct sigaction ours;
	int r;

	if (action) {
		ours = *action;
		ours.sa_handler = stand_in_for(number, action->sa_handler);
	}
	r = original()->sigaction(number, action ? &ours : NULL, old);
	if (r == 0 && old)
		old->sa_handler = shown(number, old->sa_handler);
	if (r == 0 && action && is_function(action->sa_handler))
		note_flags(number);
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
	handler *old = with(number, stand_in_for(number, f));

	if (old != SIG_ERR && is_function(f))
		note_flags(number);
	return shown(number, old);
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
