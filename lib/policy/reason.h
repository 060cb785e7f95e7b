/* SPDX-License-Identifier: MIT */
/* Why a wait slept, for people. */
#ifndef IW_POLICY_REASON_H
#define IW_POLICY_REASON_H

#include <ipcwait/stats.h>

/* The members of enum ipcwait_reason, in their order. */
enum iw_reason {
	IW_NO_REASON,    /* it did not sleep */
	IW_WINDOW_OVER,  /* it spun its window in vain */
	IW_LEARNED_LONG, /* the window is 0, because waits on the object are long */
	IW_PRESET_BLOCK,
	IW_ONE_CPU,      /* no second CPU for whoever is waited for */
	IW_RATIONED,     /* the control groups' quota of CPU time is small */
	IW_SAME_CPU,     /* the last waker ran on this CPU */
	IW_BUDGET_EMPTY, /* too many spins have failed lately */
	IW_CROWDED,      /* another thread spins for it already */
	IW_PREEMPTED,    /* the kernel gave the CPU to another thread during the spin */
	IW_STOLEN,       /* the clock jumped during the spin: the hypervisor took the CPU */
	IW_PROBE,        /* it slept to measure what a sleep costs */
	IW_NO_FACTS,     /* nothing was known about the machine yet */
	IW_OVERTAKEN,    /* others took it too often while the thread spun for it */
	IW_DEADLINE,     /* it spun until its deadline */
	IW_INTERRUPTIBLE, /* a signal handler is to end the wait, and none ends a spin */
	IW_CHEAP, /* what is waited for is in the kernel, and a sleep costs no more than looks */
	IW_REASONS,
};

/* A word or two, and a sentence without its full stop. */
const char *iw_reason_name(enum iw_reason reason);
const char *iw_reason_sentence(enum iw_reason reason);

#endif
