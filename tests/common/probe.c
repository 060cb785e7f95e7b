/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/check.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "engine/wake.h"

struct probe probe;

static bool look(struct iw_waiter *me)
{
	(void)me;
	probe.looks++;
	return probe.there || (probe.there_at && fake.now_ns >= probe.there_at);
}

static enum iw_settled settle(struct iw_waiter *me, uint32_t *expected)
{
	(void)me;
	probe.settles++;
	*expected = probe.word;
	return probe.there ? IW_TAKEN : probe.full ? IW_NAP : IW_SLEEP;
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
	fake.clock_readings = 0;
}

void probe_world(enum ipcwait_preset preset, unsigned cpus)
{
	fake_reset();
	fake.allowed.count = cpus;
	for (int i = 0; i < 160; i++) {
		iw_cost_note_latency((uint64_t)PROBE_LATENCY_NS);
		iw_cost_note_waker((uint64_t)(PROBE_BLOCK_NS - PROBE_LATENCY_NS));
	}
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

void probe_learned_once(int64_t ns)
{
	struct ipcwait_window want = { 0 };

	iw_window_record(
		&want, (uint64_t)ns, 0,
		iw_cost_block_ns(iw_facts(), iw_policy_preset(iw_facts(), &probe.window)));
	CHECK_EQ(probe.window.bins.v & PROBE_COUNTS, want.bins.v & PROBE_COUNTS);
}
