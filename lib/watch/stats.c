/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "env/cpus.h"
#include "env/facts.h"
#include "os/seam.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "watch/stats.h"

_Static_assert(IPCWAIT_REASON_COUNT <= IPCWAIT_REASON_SPACE, "a place for each reason");
_Static_assert(sizeof(struct ipcwait_kind_stats) == IW_EVENTS * sizeof(uint64_t),
	       "one counter per member");

/* More shards than CPUs in common machines; threads that share one only share a line. */
#define SHARDS 64

/* One thread's counters of one kind, on lines of their own. */
struct shard {
	struct ipcwait_word64 count[IW_EVENTS];
} __attribute__((aligned(IW_ARCH_LINE_BYTES)));

static struct shard shards[SHARDS][IPCWAIT_KIND_COUNT];

/* A thread that has just slept does not mind meeting others here. */
static struct ipcwait_word64 reasons[IW_REASONS];

static struct ipcwait_word32 next_shard;

static uint32_t my_shard(void)
{
	struct iw_thread *self = iw_self();

	if (!self->shard) {
		/* ORD stats.X1: relaxed, no order needed: deals out numbers. */
		self->shard = ipcwait_impl_add32_relaxed(&next_shard, 1) % SHARDS + 1;
	}
	return self->shard - 1;
}

const char *iw_kind_name(enum ipcwait_kind kind)
{
	static const char *const names[IPCWAIT_KIND_COUNT] = {
		[IPCWAIT_KIND_FUTEX] = "futex",
		[IPCWAIT_KIND_SEM] = "sem",
		[IPCWAIT_KIND_MUTEX] = "mutex",
		[IPCWAIT_KIND_COND] = "cond",
		[IPCWAIT_KIND_EVENT] = "event",
		[IPCWAIT_KIND_EVENTCOUNT] = "eventcount",
		[IPCWAIT_KIND_BARRIER] = "barrier",
		[IPCWAIT_KIND_LATCH] = "latch",
		[IPCWAIT_KIND_ONCE] = "once",
		[IPCWAIT_KIND_RWLOCK] = "rwlock",
		[IPCWAIT_KIND_WAIT_ANY] = "wait_any",
	};

	return (unsigned)kind < IPCWAIT_KIND_COUNT ? names[kind] : "object";
}

void iw_count(enum ipcwait_kind kind, enum iw_event event, uint64_t n)
{
	/* ORD stats.X2: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(&shards[my_shard()][kind].count[event], n);
}

void iw_count_reason(enum iw_reason reason)
{
	/* ORD stats.X4: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(&reasons[reason], 1);
}

static uint64_t total(enum ipcwait_kind kind, enum iw_event event)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		/* ORD stats.X3: relaxed, statistic. */
		sum += ipcwait_impl_load64_relaxed(&shards[i][kind].count[event]);
	}
	return sum;
}

static void gather_kind(enum ipcwait_kind kind, struct ipcwait_kind_stats *st)
{
	uint64_t counters[IW_EVENTS];

	for (unsigned e = 0; e < IW_EVENTS; e++)
		counters[e] = total(kind, (enum iw_event)e);
	memcpy(st, counters, sizeof(*st));
}

static void gather(struct ipcwait_stats *all)
{
	for (unsigned k = 0; k < IPCWAIT_KIND_COUNT; k++)
		gather_kind((enum ipcwait_kind)k, &all->kind[k]);
	for (unsigned i = 0; i < IW_REASONS; i++) {
		/* ORD stats.X5: relaxed, statistic. */
		all->reasons[i] = ipcwait_impl_load64_relaxed(&reasons[i]);
	}
}

int ipcwait_stats_get(struct ipcwait_stats *st, size_t size)
{
	const struct iw_facts *facts = iw_facts();
	struct ipcwait_stats all = { 0 };

	if (!st || size < offsetof(struct ipcwait_stats, kind))
		return -EINVAL;
	all.size = size < sizeof(all) ? size : sizeof(all);
	all.block_cost_ns =
		facts ? iw_cost_block_ns(facts, iw_policy_default_preset(facts)) : 0;
	all.block_samples = iw_cost_samples();
	all.usable_cpus = iw_cpus_usable();
	gather(&all);
	memcpy(st, &all, all.size);
	return (int)all.size;
}
