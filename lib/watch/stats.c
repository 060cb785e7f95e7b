/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "env/cpus.h"
#include "env/facts.h"
#include "os/seam.h"
#include "os/wake_latency.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "watch/stats.h"

_Static_assert(IPCWAIT_REASON_COUNT <= IPCWAIT_REASON_SPACE, "a place for each reason");
_Static_assert(sizeof(struct ipcwait_kind_stats) == IW_EVENTS * sizeof(uint64_t),
	       "one counter per member");

/*
 * The first threads have a shard of their own, and add to it without a locked instruction, 6 ns
 * each; later ones share the rest. A signal handler that posts in the middle of such an addition
 * may lose one.
 */
#define OWN_SHARDS    64
#define SHARED_SHARDS 16
#define SHARDS        (OWN_SHARDS + SHARED_SHARDS)

/* One thread's counters of one kind, on lines of their own. */
struct counts {
	struct ipcwait_word64 count[IW_EVENTS];
} __attribute__((aligned(IW_ARCH_LINE_BYTES)));

struct shard {
	struct counts kind[IPCWAIT_KIND_COUNT];
	struct ipcwait_word64 reasons[IW_REASONS]
		__attribute__((aligned(IW_ARCH_LINE_BYTES)));
	struct ipcwait_word64 moves[IW_MOVES];
};

_Static_assert(offsetof(struct shard, moves) ==
		       offsetof(struct shard, reasons) + IW_REASONS * sizeof(uint64_t),
	       "moves are behind the reasons");

/* Whole pages, see iw_stats_table(). Where pages are larger nothing is mapped over it. */
static struct {
	struct shard shard[SHARDS];
} __attribute__((aligned(4096))) table;

static struct ipcwait_word32 next_shard;

static uint32_t my_shard(void)
{
	struct iw_thread *self = iw_self();
	uint32_t n;

	if (!self->shard) {
		/* ORD stats.X1: relaxed, no order needed: deals out numbers. */
		n = ipcwait_impl_add32_relaxed(&next_shard, 1);
		self->shard = 1 + (n < OWN_SHARDS ? n : OWN_SHARDS + n % SHARED_SHARDS);
	}
	return self->shard - 1;
}

static void add(uint32_t shard, struct ipcwait_word64 *count, uint64_t n)
{
	/* ORD stats.X2: relaxed, statistic; of the thread's own nobody else writes it. */
	if (IPCWAIT_LIKELY(shard < OWN_SHARDS))
		ipcwait_impl_store64_relaxed(count, ipcwait_impl_load64_relaxed(count) + n);
	else
		(void)ipcwait_impl_add64_relaxed(count, n);
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
		[IPCWAIT_KIND_QUEUE] = "queue",
		[IPCWAIT_KIND_CHANNEL] = "channel",
		[IPCWAIT_KIND_FD] = "fd",
	};

	return (unsigned)kind < IPCWAIT_KIND_COUNT ? names[kind] : "object";
}

void iw_count(enum ipcwait_kind kind, enum iw_event event, uint64_t n)
{
	uint32_t shard = my_shard();

	add(shard, &table.shard[shard].kind[kind].count[event], n);
}

void iw_count_reason(enum iw_reason reason)
{
	uint32_t shard = my_shard();

	add(shard, &table.shard[shard].reasons[reason], 1);
}

void iw_count_move(enum iw_moves move)
{
	uint32_t shard = my_shard();

	add(shard, &table.shard[shard].moves[move], 1);
}

void iw_stats_table(struct iw_stats_table *t)
{
	*t = (struct iw_stats_table){
		.memory = &table,
		.bytes = sizeof(table),
		.shards = SHARDS,
		.shard_bytes = sizeof(struct shard),
		.kinds = IPCWAIT_KIND_COUNT,
		.kind_bytes = sizeof(struct counts),
		.events = IW_EVENTS,
		.reasons = IW_REASONS,
		.reasons_at = offsetof(struct shard, reasons),
		.moves = IW_MOVES,
	};
}

static uint64_t total(enum ipcwait_kind kind, enum iw_event event)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		/* ORD stats.X3: relaxed, statistic. */
		sum += ipcwait_impl_load64_relaxed(&table.shard[i].kind[kind].count[event]);
	}
	return sum;
}

static void gather_kind(enum ipcwait_kind kind, struct ipcwait_kind_stats *st)
{
	uint64_t counters[IW_EVENTS];

	for (unsigned e = 0; e < IW_EVENTS; e++)
		counters[e] = total(kind, (enum iw_event)e);
	/* A child of fork(2) gives up what its parent went to sleep for: it is not counted here. */
	if ((int64_t)counters[IW_SLEPT] < 0)
		counters[IW_SLEPT] = 0;
	memcpy(st, counters, sizeof(*st));
}

uint64_t iw_moves_total(enum iw_moves move)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SHARDS; i++)
		/* ORD stats.X6: relaxed, statistic. */
		sum += ipcwait_impl_load64_relaxed(&table.shard[i].moves[move]);
	return sum;
}

static void gather(struct ipcwait_stats *all)
{
	struct iw_wake_latency awake = iw_wake_latency_total();

	all->moves_apart = iw_moves_total(IW_MOVES_APART);
	all->moves_back = iw_moves_total(IW_MOVES_BACK);
	all->moves_kept = iw_moves_total(IW_MOVES_KEPT);
	all->moves_undone = iw_moves_total(IW_MOVES_UNDONE);
	all->awake_requests = awake.requests;
	all->awake_ns = awake.held_ns;
	for (unsigned k = 0; k < IPCWAIT_KIND_COUNT; k++)
		gather_kind((enum ipcwait_kind)k, &all->kind[k]);
	for (unsigned i = 0; i < SHARDS; i++)
		for (unsigned r = 0; r < IW_REASONS; r++)
			/* ORD stats.X5: relaxed, statistic. */
			all->reasons[r] +=
				ipcwait_impl_load64_relaxed(&table.shard[i].reasons[r]);
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
