/* SPDX-License-Identifier: MIT */
/* Counters of slow-path events, per kind of object, in shards so that threads do not meet. */
#ifndef IW_WATCH_STATS_H
#define IW_WATCH_STATS_H

#include <stddef.h>
#include <stdint.h>

#include <ipcwait/stats.h>

#include "policy/reason.h"

/* The members of struct ipcwait_kind_stats, in their order. */
enum iw_event {
	IW_SPUN,
	IW_SLEPT,
	IW_EXPIRED,
	IW_INTERRUPTED,
	IW_FUTEX_WAITS,
	IW_FUTEX_WAKES,
	IW_WAKES_AVOIDED,
	IW_SPUN_USEFUL_NS,
	IW_SPUN_WASTED_NS,
	IW_SLEPT_NS,
	IW_SPINS_PREEMPTED,
	IW_SPINS_STOLEN,
	IW_TIMED_SLEEPS,
	IW_EVENTS,
};

/* "sem" */
const char *iw_kind_name(enum ipcwait_kind kind);

/* Add @n to an event's counter. Async-signal-safe. */
void iw_count(enum ipcwait_kind kind, enum iw_event event, uint64_t n);

/* A wait slept for this reason. Async-signal-safe. */
void iw_count_reason(enum iw_reason reason);

/*
 * Moves of threads to other CPUs, and how their trials ended: lib/policy/migration.h. The members
 * of struct ipcwait_stats, in their order.
 */
enum iw_moves {
	IW_MOVES_APART,  /* away from the waker's CPU: a trial began */
	IW_MOVES_BACK,   /* it failed, and the thread went back */
	IW_MOVES_KEPT,   /* it paid, and the thread stayed */
	IW_MOVES_UNDONE, /* it had no answer */
	IW_MOVES,
};

/* Async-signal-safe. */
void iw_count_move(enum iw_moves move);

/* How many there were in this process. */
uint64_t iw_moves_total(enum iw_moves move);

/*
 * Where all counters are: whole pages, over which memory of a file can be mapped that others read.
 * From then on they count on from what is there, and what they had counted is forgotten.
 */
struct iw_stats_table {
	void *memory;
	size_t bytes;
	uint32_t shards, shard_bytes; /* the sum over all shards is the counter */
	uint32_t kinds, kind_bytes;   /* in a shard, from its beginning */
	uint32_t events;              /* words of 64 bits of a kind */
	uint32_t reasons, reasons_at; /* words of 64 bits in a shard */
	uint32_t moves;               /* words of 64 bits behind the reasons */
};

void iw_stats_table(struct iw_stats_table *table);

#endif
