/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <ipcwait/base.h>

#include "env/quota.h"
#include "os/usage.h"

/*
 * A reading is 9 us for the first level of groups and some 10 us for each further one, so ten
 * a second are 0.01 % of a CPU and more. There are ten periods a second as a rule, so that more
 * readings would tell little more.
 */
#define READ_EVERY_NS UINT64_C(100000000)

/* Moving a process to another group is rare. Looking costs 9 us, and 32 us more if it has. */
#define FIND_EVERY_NS UINT64_C(1000000000)

/* How long a stop is remembered, and how old the last reading may be to tell of one. */
#define STOP_VALID_NS UINT64_C(1000000000)

struct ipcwait_word32 iw_quota_word;

/* Protected by @turn. */
static struct iw_quota_watch watch;

/*
 * Whose turn it is to read. Top bit clear: nobody reads, and the other bits are half the
 * ticks at which it is due. Set: a thread of the process reads whose id the low half holds. A
 * child that was forked meanwhile finds its parent's id, so that it is not left waiting.
 */
static struct ipcwait_word64 turn;

#define READING (UINT64_C(1) << 63)

static bool older(const struct iw_tick_rate *rate, uint64_t now, uint64_t then, uint64_t ns)
{
	return now - then > iw_tick_from_ns(rate, ns);
}

static void find_groups(struct iw_quota_watch *w, const char *root, uint64_t now)
{
	struct iw_cgroup_names names;

	w->found_at = now;
	/* No file to be had is no news about the groups. */
	if (!iw_cgroup_read_names(root, &names) && w->found)
		return;
	for (int v = 0; v < IW_CGROUP_VERSIONS; v++)
		if (strcmp(names.name[v], w->names.name[v]) != 0)
			w->found = false;
	if (w->found)
		return;
	w->names = names;
	iw_cgroup_find(root, &names, &w->places);
	w->found = true;
	w->counted = false;
}

struct iw_quota iw_quota_watch(struct iw_quota_watch *w, const char *root,
			       const struct iw_tick_rate *rate, uint64_t now)
{
	struct iw_cgroup_limits limits;

	if (!w->found || older(rate, now, w->found_at, FIND_EVERY_NS))
		find_groups(w, root, now);
	limits = iw_cgroup_read_limits(&w->places);
	/* A stop between two readings that are far apart may have been long ago. */
	if (w->counted && limits.throttled > w->throttled &&
	    !older(rate, now, w->read_at, STOP_VALID_NS)) {
		w->stopped = true;
		w->stopped_at = now;
	} else if (w->stopped && older(rate, now, w->stopped_at, STOP_VALID_NS)) {
		w->stopped = false;
	}
	w->counted = true;
	w->read_at = now;
	w->throttled = limits.throttled;
	return (struct iw_quota){ limits.hundredths, w->stopped };
}

static uint32_t packed(struct iw_quota q)
{
	return q.hundredths | (q.throttled ? IW_QUOTA_THROTTLED : 0);
}

/* The clock may run back, in a process that is restored: what is too far off is due too. */
static bool due(const struct iw_tick_rate *rate, uint64_t found, uint64_t now)
{
	uint64_t left = found - now / 2;

	if (found & READING)
		return (uint32_t)found != iw_usage_process();
	return left == 0 || left > iw_tick_from_ns(rate, READ_EVERY_NS);
}

void iw_quota_refresh(const struct iw_tick_rate *rate, uint64_t now)
{
	/* ORD quota.X2: relaxed, re-checked by quota.A1. */
	uint64_t found = ipcwait_impl_load64_relaxed(&turn);
	uint64_t mine = READING;

	if (!due(rate, found, now))
		return;
	mine |= iw_usage_process();
	/* ORD quota.A1: acquire on success, to find what the last reader left in @watch. Pairs
	 * with quota.R1. */
	if (!ipcwait_impl_cas64_acquire(&turn, &found, mine))
		return;
	if (found & READING)
		memset(&watch, 0, sizeof(watch));
	/* ORD quota.X3: relaxed, hint: nothing else is published with it. */
	ipcwait_impl_store32_relaxed(&iw_quota_word,
				     packed(iw_quota_watch(&watch, "", rate, now)));
	/* ORD quota.R1: release, leaves @watch to the next reader. Pairs with quota.A1. */
	(void)ipcwait_impl_cas64_release(&turn, &mine,
					 (now + iw_tick_from_ns(rate, READ_EVERY_NS)) / 2);
}
