/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "engine/wake.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "policy/sites.h"
#include "policy/window.h"

struct probe probe;

static enum iw_seen look(struct iw_waiter *me)
{
	(void)me;
	probe.looks++;
	if (probe.there || (probe.there_at && fake.now_ns >= probe.there_at))
		return IW_THERE;
	return probe.away;
}

static struct iw_rest settle(struct iw_waiter *me)
{
	(void)me;
	probe.settles++;
	if (probe.there)
		return iw_rest_taken();
	return probe.full ? iw_rest_unpublished() : probe.rest;
}

static bool withdraw(struct iw_waiter *me)
{
	(void)me;
	probe.withdraws++;
	return probe.there;
}

static const struct iw_waitable resumable = {
	.kind = IPCWAIT_KIND_SEM,
	.resumable = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

static const struct iw_waitable fixed = {
	.kind = IPCWAIT_KIND_SEM,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

void probe_again(int64_t deadline_ns)
{
	probe.base = (struct iw_waiter){
		.what = probe.fixed ? &fixed : &resumable,
		.window = &probe.window,
		.futex = &probe.word,
		.deadline_ns = deadline_ns,
	};
	probe.looks = probe.settles = probe.withdraws = 0;
	probe.there = false;
	probe.there_at = 0;
	probe.away = IW_AWAY;
	probe.rest = iw_rest_on(&probe.word, 0);
	probe.before = probe.window;
	fake.clock_readings = 0;
}

void probe_teach(unsigned n, unsigned bin)
{
	while (n--)
		iw_window_record(&probe.window, bin, 1, 0);
	probe.before = probe.window;
}

void probe_world(enum ipcwait_preset preset, unsigned cpus)
{
	fake_reset();
	fake.allowed.count = cpus;
	for (int i = 0; i < 160; i++) {
		iw_cost_note_latency((uint64_t)PROBE_LATENCY_NS);
		iw_cost_note_waker((uint64_t)(PROBE_BLOCK_NS - PROBE_LATENCY_NS));
	}
	memset(&iw_sites, 0, sizeof(iw_sites));
	probe = (struct probe){ 0 };
	CHECK_EQ(ipcwait_window_set_preset(&probe.window, preset), 0);
	probe_again(IPCWAIT_FOREVER);
	errno = 4711;
}

void probe_appear(void)
{
	probe.there = true;
}

/* A thread beside its waker neither spins nor learns. */
void probe_stamp(void)
{
	unsigned cpu = fake.cpu;

	fake.cpu = cpu + 1;
	CHECK(iw_stamp(&probe.window) != 0);
	fake.cpu = cpu;
}

void probe_stamp_and_appear(void)
{
	probe_stamp();
	probe_appear();
}

struct ipcwait_stats probe_stats(void)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st;
}

struct ipcwait_kind_stats probe_counters(void)
{
	return probe_stats().kind[IPCWAIT_KIND_SEM];
}

struct ipcwait_kind_stats probe_counted(const struct ipcwait_stats *before)
{
	const struct ipcwait_kind_stats was = before->kind[IPCWAIT_KIND_SEM];
	struct ipcwait_kind_stats is = probe_counters();

	/* One counter per member. */
	for (size_t i = 0; i < sizeof(is) / sizeof(uint64_t); i++)
		((uint64_t *)&is)[i] -= ((const uint64_t *)&was)[i];
	return is;
}

enum ipcwait_reason probe_why(const struct ipcwait_stats *before)
{
	struct ipcwait_stats after = probe_stats();
	enum ipcwait_reason why = IPCWAIT_REASON_NONE;

	for (unsigned i = 0; i < IPCWAIT_REASON_SPACE; i++) {
		uint64_t n = after.reasons[i] - before->reasons[i];

		CHECK(n == 0 || (n == 1 && why == IPCWAIT_REASON_NONE));
		if (n)
			why = (enum ipcwait_reason)i;
	}
	return why;
}

/* Also where nothing is learned from a stamp. */
static void wake(void)
{
	fake.cpu++;
	(void)iw_stamp(&probe.window);
	fake.cpu--;
	probe_appear();
}

enum ipcwait_reason probe_wait(struct ipcwait_kind_stats *counted)
{
	static const struct fake_step script[] = {
		{ .sleep_ns = 50000, .meanwhile = wake, .late_ns = 20000 }
	};
	struct ipcwait_stats before = probe_stats();
	enum ipcwait_reason why;

	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	why = probe_why(&before);
	CHECK_EQ(fake.waits, why != IPCWAIT_REASON_NONE);
	*counted = probe_counted(&before);
	return why;
}

void probe_learned_once(int64_t ns)
{
	uint32_t state = iw_window_state(&probe.window);
	uint64_t block_ns =
		iw_cost_block_ns(iw_facts(), iw_policy_preset(iw_facts(), state));

	iw_window_record(&probe.before, iw_bin_of((uint64_t)ns, block_ns), 1, 0);
	CHECK_EQ(probe.window.bins.v & IW_HISTOGRAM_MASK,
		 probe.before.bins.v & IW_HISTOGRAM_MASK);
}

void probe_learned_nothing(void)
{
	CHECK_EQ(probe.window.bins.v, probe.before.bins.v);
}

void probe_forget(void)
{
	memset(&iw_sites, 0, sizeof(iw_sites));
	probe.window.bins.v = probe.window.state.v = 0;
	probe_again(IPCWAIT_FOREVER);
}
