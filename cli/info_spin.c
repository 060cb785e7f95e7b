/* SPDX-License-Identifier: MIT */
/*
 * Whether it spins depends on CPUs, quota, presets and more. Nobody knows that better than the
 * library, so a semaphore that nobody posts is waited for, and the library's own counters tell
 * what became of it.
 */
#include "info_spin.h"

#include <ipcwait/base.h>
#include <ipcwait/sem.h>
#include <ipcwait/stats.h>

#include <errno.h>
#include <string.h>

/* Longer than any spin of a fresh object but those that the user has asked for. */
#define WAIT_NS INT64_C(10000000)

/* A spin may be cut short by other programs, or be left out to measure a sleep. */
#define TRIES 5

struct outcome {
	enum ipcwait_reason reason;
	double spun_us;
};

/* False if the wait failed, or left no trace. */
static bool try_once(struct outcome *o)
{
	struct ipcwait_stats before, after;
	struct ipcwait_sem sem;

	memset(&sem, 0, sizeof(sem));
	if (ipcwait_stats_get(&before, sizeof(before)) < 0 ||
	    ipcwait_sem_wait_until(&sem, ipcwait_deadline_in_ns(WAIT_NS)) != -ETIMEDOUT ||
	    ipcwait_stats_get(&after, sizeof(after)) < 0)
		return false;
	o->spun_us = (double)(after.kind[IPCWAIT_KIND_SEM].spun_wasted_ns -
			      before.kind[IPCWAIT_KIND_SEM].spun_wasted_ns) /
		     1000;
	for (unsigned i = 0; i < IPCWAIT_REASON_COUNT; i++) {
		if (after.reasons[i] != before.reasons[i]) {
			o->reason = (enum ipcwait_reason)i;
			return true;
		}
	}
	o->reason = IPCWAIT_REASON_NONE;
	return o->spun_us > 0;
}

/* NULL: an accident, which says nothing about the next wait. */
static const char *why_not(enum ipcwait_reason reason)
{
	switch (reason) {
	case IPCWAIT_REASON_LEARNED_LONG:
		return "a sleep costs less than the wait of a new object is expected to "
		       "last";
	case IPCWAIT_REASON_PRESET_BLOCK:
		return "the preset is block";
	case IPCWAIT_REASON_ONE_CPU:
		return "this process may use one CPU only";
	case IPCWAIT_REASON_RATIONED:
		return "the quota of CPU time is small";
	case IPCWAIT_REASON_BUDGET_EMPTY:
		return "the budget for spinning is empty";
	default:
		return NULL;
	}
}

static void put(struct info *info, bool spins, const char *because)
{
	info_put_boolean(info, "spins_here", spins);
	info_put_text(info, "spins_here_because", because);
}

static void put_spin(struct info *info, double us)
{
	char text[INFO_TEXT_BYTES];

	(void)snprintf(text, sizeof(text), "a wait on a new object spun for %.1f us", us);
	put(info, true, text);
}

void info_put_spinning(struct info *info)
{
	static const char why[] = "other programs or the hypervisor got in the way";
	struct outcome o = { .reason = IPCWAIT_REASON_NONE };
	bool warm = false;

	for (int i = 0; i < TRIES && try_once(&o); i++) {
		bool spun = o.reason == IPCWAIT_REASON_WINDOW_OVER ||
			    o.reason == IPCWAIT_REASON_NONE;

		if (why_not(o.reason)) {
			put(info, false, why_not(o.reason));
			return;
		}
		/* The first wait of a process takes longer: its code is not in the caches. */
		if (spun && warm) {
			put_spin(info, o.spun_us);
			return;
		}
		warm = true;
	}
	info_put_missing(info, "spins_here", why);
	info_put_missing(info, "spins_here_because", why);
}
