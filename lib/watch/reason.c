/* SPDX-License-Identifier: MIT */
#include "policy/reason.h"

_Static_assert((unsigned)IW_REASONS == (unsigned)IPCWAIT_REASON_COUNT,
	       "one for each member of enum ipcwait_reason");

static const struct {
	const char *name, *sentence;
} reasons[IW_REASONS] = {
	[IW_NO_REASON] = { "did not sleep",
			   "it was there before the thread gave up spinning" },
	[IW_WINDOW_OVER] = { "window over",
			     "it spun for its window, and that was in vain" },
	[IW_LEARNED_LONG] = { "learned long",
			      "waits here are long, so that a sleep costs less" },
	[IW_PRESET_BLOCK] = { "preset block", "the preset says never to spin" },
	[IW_ONE_CPU] = { "one CPU",
			 "there was no second CPU for the thread that it waited for" },
	[IW_RATIONED] = { "rationed", "the quota of CPU time is small" },
	[IW_SAME_CPU] = { "same CPU",
			  "the thread that it waited for was last on the same CPU" },
	[IW_BUDGET_EMPTY] = { "budget empty", "too much spinning had been in vain lately" },
	[IW_CROWDED] = { "crowded", "another thread spun for it already" },
	[IW_PREEMPTED] = { "preempted",
			   "the kernel gave the CPU to others during the spin" },
	[IW_STOLEN] = { "stolen",
			"the CPU stood still during the spin: the hypervisor took it" },
	[IW_PROBE] = { "probe", "it slept to measure what a sleep costs" },
	[IW_NO_FACTS] = { "no facts", "nothing was known about the machine yet" },
	[IW_INTERRUPTIBLE] = { "interruptible", "a signal handler is to end the wait, and "
						"none ends a spin" },
	[IW_CHEAP] = { "cheap", "a sleep costs no more than looking" },
	[IW_DEADLINE] = { "deadline", "it spun until right before its deadline" },
	[IW_OVERTAKEN] = { "overtaken",
			   "others took it too often while the thread spun for it" },
};

const char *iw_reason_name(enum iw_reason reason)
{
	return reasons[(unsigned)reason < IW_REASONS ? reason : IW_NO_REASON].name;
}

const char *iw_reason_sentence(enum iw_reason reason)
{
	return reasons[(unsigned)reason < IW_REASONS ? reason : IW_NO_REASON].sentence;
}
