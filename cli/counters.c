/* SPDX-License-Identifier: MIT */
#include "counters.h"

#include <assert.h>
#include <string.h>

#define WORD sizeof(uint64_t)

static const char *const kinds[IPCWAIT_KIND_COUNT] = {
	[IPCWAIT_KIND_FUTEX] = "futex",       [IPCWAIT_KIND_SEM] = "sem",
	[IPCWAIT_KIND_MUTEX] = "mutex",       [IPCWAIT_KIND_COND] = "cond",
	[IPCWAIT_KIND_EVENT] = "event",       [IPCWAIT_KIND_EVENTCOUNT] = "eventcount",
	[IPCWAIT_KIND_BARRIER] = "barrier",   [IPCWAIT_KIND_LATCH] = "latch",
	[IPCWAIT_KIND_ONCE] = "once",         [IPCWAIT_KIND_RWLOCK] = "rwlock",
	[IPCWAIT_KIND_WAIT_ANY] = "wait_any", [IPCWAIT_KIND_QUEUE] = "queue",
	[IPCWAIT_KIND_CHANNEL] = "channel",   [IPCWAIT_KIND_FD] = "fd",
};

static const char *const reasons[IPCWAIT_REASON_COUNT] = {
	[IPCWAIT_REASON_WINDOW_OVER] = "window_over",
	[IPCWAIT_REASON_LEARNED_LONG] = "learned_long",
	[IPCWAIT_REASON_PRESET_BLOCK] = "preset_block",
	[IPCWAIT_REASON_ONE_CPU] = "one_cpu",
	[IPCWAIT_REASON_RATIONED] = "rationed",
	[IPCWAIT_REASON_SAME_CPU] = "same_cpu",
	[IPCWAIT_REASON_BUDGET_EMPTY] = "budget_empty",
	[IPCWAIT_REASON_CROWDED] = "crowded",
	[IPCWAIT_REASON_PREEMPTED] = "preempted",
	[IPCWAIT_REASON_STOLEN] = "stolen",
	[IPCWAIT_REASON_PROBE] = "probe",
	[IPCWAIT_REASON_NO_FACTS] = "no_facts",
	[IPCWAIT_REASON_OVERTAKEN] = "overtaken",
	[IPCWAIT_REASON_DEADLINE] = "deadline",
	[IPCWAIT_REASON_INTERRUPTIBLE] = "interruptible",
	[IPCWAIT_REASON_CHEAP] = "cheap",
};

static const char *const moves[COUNTERS_MOVES] = {
	[COUNTERS_APART] = "apart",
	[COUNTERS_BACK] = "back",
	[COUNTERS_KEPT] = "kept",
	[COUNTERS_UNDONE] = "undone",
};

static const char *const events[COUNTERS_EVENTS] = {
	"spun",        "slept",         "expired",        "interrupted",    "futex_waits",
	"futex_wakes", "wakes_avoided", "spun_useful_ns", "spun_wasted_ns", "slept_ns",
	"preempted",   "stolen",        "timed_sleeps",
};

bool counters_fit(const struct counters_shape *s, uint64_t bytes)
{
	/* All of it is read from 32 bits, and no product overflows. */
	return s->events == COUNTERS_EVENTS && s->shard_bytes >= WORD &&
	       s->shard_bytes % WORD == 0 && s->kind_bytes % WORD == 0 &&
	       s->reasons_at % WORD == 0 && s->kind_bytes >= COUNTERS_EVENTS * WORD &&
	       s->kinds * s->kind_bytes <= s->shard_bytes &&
	       s->reasons_at + (s->reasons + s->moves) * WORD <= s->shard_bytes &&
	       s->shards * s->shard_bytes <= bytes;
}

static void add_kind(struct ipcwait_kind_stats *to, const uint64_t *from)
{
	uint64_t sum[COUNTERS_EVENTS];

	memcpy(sum, to, sizeof(sum));
	for (unsigned i = 0; i < COUNTERS_EVENTS; i++)
		sum[i] += from[i];
	memcpy(to, sum, sizeof(sum));
}

static void add_shard(struct counters *c, const struct counters_shape *s,
		      const uint64_t *shard)
{
	const uint64_t *reason = shard + s->reasons_at / WORD, *move = reason + s->reasons;

	for (unsigned k = 0; k < s->kinds && k < IPCWAIT_KIND_COUNT; k++) {
		const uint64_t *kind = shard + k * (s->kind_bytes / WORD);

		add_kind(&c->kind[k], kind);
		add_kind(&c->all, kind);
	}
	for (unsigned i = 0; i < s->reasons && i < IPCWAIT_REASON_COUNT; i++)
		c->reasons[i] += reason[i];
	for (unsigned i = 0; i < s->moves && i < COUNTERS_MOVES; i++)
		c->moves[i] += move[i];
}

void counters_add(struct counters *c, const struct counters_shape *s,
		  const uint64_t *memory)
{
	for (unsigned i = 0; i < s->shards; i++)
		add_shard(c, s, memory + i * (s->shard_bytes / WORD));
}

#define COUNTERS \
	((IPCWAIT_KIND_COUNT + 1) * COUNTERS_EVENTS + IPCWAIT_REASON_COUNT + COUNTERS_MOVES)

static_assert(sizeof(struct counters) == COUNTERS * WORD, "nothing else is in it");

static void combine(struct counters *c, const struct counters *other, bool subtract)
{
	uint64_t a[COUNTERS], b[COUNTERS];

	memcpy(a, c, sizeof(a));
	memcpy(b, other, sizeof(b));
	for (unsigned i = 0; i < COUNTERS; i++)
		a[i] += subtract ? -b[i] : b[i];
	memcpy(c, a, sizeof(a));
}

void counters_sum(struct counters *c, const struct counters *more)
{
	combine(c, more, false);
}

void counters_subtract(struct counters *c, const struct counters *before)
{
	combine(c, before, true);
}

void counters_settle(struct counters *c)
{
	c->all.slept = 0;
	for (unsigned k = 0; k < IPCWAIT_KIND_COUNT; k++) {
		if ((int64_t)c->kind[k].slept < 0)
			c->kind[k].slept = 0;
		c->all.slept += c->kind[k].slept;
	}
}

const char *counters_kind(unsigned kind)
{
	return kind < IPCWAIT_KIND_COUNT ? kinds[kind] : NULL;
}

const char *counters_reason(unsigned reason)
{
	return reason < IPCWAIT_REASON_COUNT ? reasons[reason] : NULL;
}

const char *counters_move(enum counters_move move)
{
	return moves[move];
}

const char *counters_event(unsigned event)
{
	return events[event];
}

uint64_t counters_value(const struct ipcwait_kind_stats *k, unsigned event)
{
	uint64_t value;

	memcpy(&value, (const char *)k + event * WORD, WORD);
	return value;
}

uint64_t counters_waits(const struct ipcwait_kind_stats *k)
{
	return k->spun + k->slept + k->expired + k->interrupted;
}

bool counters_any(const struct ipcwait_kind_stats *k)
{
	static const struct ipcwait_kind_stats none;

	return memcmp(k, &none, sizeof(none)) != 0;
}
