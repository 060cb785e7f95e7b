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
 * The functions that the program has installed, for any signal. Each place stands for one function,
 * with SA_RESTART or without, and for no other as long as the process lives. So
 *   - threads that install at the same time, or a child of vfork(2), change nothing that another
 *     has installed, and the kernel's own step changes handler and flags;
 *   - code that has read the address of a stand-in by the system call may call it, and may give it
 *     back for any signal, after the program has installed something else.
 * The functions of a program that has more than PLACES of one kind are installed themselves, and
 * not counted.
 */
#define PLACES 16

enum { INTERRUPTING, RESTARTING, KINDS };

static struct ipcwait_word64 functions[KINDS * PLACES];

static long_handler *function_at(unsigned i)
{
	/* ORD signals.A1: acquire, what the program prepared for it. Pairs with signals.R1. */
	return (long_handler *)(uintptr_t)ipcwait_impl_load64_acquire(&functions[i]);
}

static void count_and_call(unsigned i, int number, siginfo_t *info, void *context)
{
	iw_handled.any++;
	if (i / PLACES == INTERRUPTING)
		iw_handled.interrupting++;
	function_at(i)(number, info, context);
}

/* In the place of all of them. A handler with one argument does not look at the others. */
#define STAND_IN(i)                                                          \
	static void stand_in_##i(int number, siginfo_t *info, void *context) \
	{                                                                    \
		count_and_call(i, number, info, context);                    \
	}

STAND_IN(0)
STAND_IN(1)
STAND_IN(2)
STAND_IN(3)
STAND_IN(4)
STAND_IN(5)
STAND_IN(6)
STAND_IN(7)
STAND_IN(8)
STAND_IN(9)
STAND_IN(10)
STAND_IN(11)
STAND_IN(12)
STAND_IN(13)
STAND_IN(14)
STAND_IN(15)
STAND_IN(16)
STAND_IN(17)
STAND_IN(18)
STAND_IN(19)
STAND_IN(20)
STAND_IN(21)
STAND_IN(22)
STAND_IN(23)
STAND_IN(24)
STAND_IN(25)
STAND_IN(26)
STAND_IN(27)
STAND_IN(28)
STAND_IN(29)
STAND_IN(30)
STAND_IN(31)

static long_handler *const stand_ins[KINDS * PLACES] = {
	stand_in_0,  stand_in_1,  stand_in_2,  stand_in_3,  stand_in_4,  stand_in_5,
	stand_in_6,  stand_in_7,  stand_in_8,  stand_in_9,  stand_in_10, stand_in_11,
	stand_in_12, stand_in_13, stand_in_14, stand_in_15, stand_in_16, stand_in_17,
	stand_in_18, stand_in_19, stand_in_20, stand_in_21, stand_in_22, stand_in_23,
	stand_in_24, stand_in_25, stand_in_26, stand_in_27, stand_in_28, stand_in_29,
	stand_in_30, stand_in_31,
};

static bool is_function(handler *f)
{
	return f != SIG_DFL && f != SIG_IGN && f != SIG_ERR && f != SIG_HOLD;
}

/* The place that the stand-in @f is of; KINDS * PLACES if it is none. */
static unsigned stand_in_number(handler *f)
{
	unsigned i = 0;

	while (i < KINDS * PLACES && (uintptr_t)f != (uintptr_t)stand_ins[i])
		i++;
	return i;
}

/* What the program is shown of what is, or was, @installed. */
static handler *shown(handler *installed)
{
	unsigned i = stand_in_number(installed);

	return i < KINDS * PLACES ? (handler *)(uintptr_t)function_at(i) : installed;
}

/* True if place @i stands for @f from now on, or has before. */
static bool is_place_for(unsigned i, handler *f)
{
	uint64_t is = (uintptr_t)function_at(i);

	/* ORD signals.R1: release, to the handler. Pairs with signals.A1. */
	return is == (uintptr_t)f ||
	       (!is && (ipcwait_impl_cas64_release(&functions[i], &is, (uintptr_t)f) ||
			is == (uintptr_t)f));
}

/* What to install for @f: itself if it is no function, or there is no place for it. */
static handler *stand_in_for(handler *f, bool restarts)
{
	unsigned first = (restarts ? RESTARTING : INTERRUPTING) * PLACES;
	handler *own = shown(f);

	if (!is_function(own))
		return own;
	for (unsigned i = first; i < first + PLACES; i++)
		if (is_place_for(i, own))
			return (handler *)(uintptr_t)stand_ins[i];
	return own;
}

/*
 * signal() and siginterrupt() have their own ideas of SA_RESTART: the kernel knows. A handler that
 * runs before the stand-in is the other one has run before the call.
 */
static void follow_flags(int number)
{
	struct sigaction now;
	int saved_errno = errno;
	unsigned i;

	if (original()->sigaction(number, NULL, &now) == 0) {
		bool restarts = now.sa_flags & SA_RESTART;

		i = stand_in_number(now.sa_handler);
		if (i < KINDS * PLACES && restarts != (i / PLACES == RESTARTING)) {
			now.sa_handler = stand_in_for(now.sa_handler, restarts);
			(void)original()->sigaction(number, &now, NULL);
		}
	}
	errno = saved_errno;
}

/* By both of its names. The program may have functions of these names, which call the next. */
static int install_action(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction ours;
	int r;

	if (action) {
		/* A copy: both may be the same, and the kernel writes the one last. */
		ours = *action;
		ours.sa_handler =
			stand_in_for(action->sa_handler, action->sa_flags & SA_RESTART);
	}
	r = original()->sigaction(number, action ? &ours : NULL, old);
	if (r == 0 && old)
		old->sa_handler = shown(old->sa_handler);
	return r;
}

IW_INTERPOSED int sigaction(int number, const struct sigaction *restrict action,
			    struct sigaction *restrict old)
{
	return install_action(number, action, old);
}

IW_INTERPOSED int __sigaction(int number, const struct sigaction *restrict action,
			      struct sigaction *restrict old);

IW_INTERPOSED int __sigaction(int number, const struct sigaction *restrict action,
			      struct sigaction *restrict old)
{
	return install_action(number, action, old);
}

/* @restarts: what is usual; the other one is found out. */
static handler *install(handler *(*with)(int, handler *), int number, handler *f,
			bool restarts)
{
	handler *old = with(number, stand_in_for(f, restarts));

	if (old != SIG_ERR && is_function(f))
		follow_flags(number);
	return shown(old);
}

IW_INTERPOSED handler *signal(int number, handler *f)
{
	return install(original()->signal, number, f, true);
}

/* In no header any more, and in libc for old programs. */
IW_INTERPOSED handler *bsd_signal(int number, handler *f);

IW_INTERPOSED handler *bsd_signal(int number, handler *f)
{
	return install(original()->signal, number, f, true);
}

IW_INTERPOSED handler *ssignal(int number, handler *f)
{
	return install(original()->signal, number, f, true);
}

IW_INTERPOSED handler *sysv_signal(int number, handler *f)
{
	return install(original()->sysv_signal, number, f, false);
}

IW_INTERPOSED handler *__sysv_signal(int number, handler *f)
{
	return install(original()->sysv_signal, number, f, false);
}

IW_INTERPOSED handler *sigset(int number, handler *f)
{
	return install(original()->sigset, number, f, false);
}

IW_INTERPOSED int siginterrupt(int number, int interrupts)
{
	int r = original()->siginterrupt(number, interrupts);

	if (r == 0)
		follow_flags(number);
	return r;
}
