/* SPDX-License-Identifier: MIT */
/* The library's counters, as they lie in the memory of a process, and for people. */
#ifndef CLI_COUNTERS_H
#define CLI_COUNTERS_H

#include "../tools/common/json_writer.h"

#include <ipcwait/stats.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Moves of threads away from their waker's CPU, and how the trials ended. */
enum counters_move {
	COUNTERS_APART,
	COUNTERS_BACK,
	COUNTERS_KEPT,
	COUNTERS_UNDONE,
	COUNTERS_MOVES,
};

struct counters {
	struct ipcwait_kind_stats kind[IPCWAIT_KIND_COUNT], all;
	uint64_t reasons[IPCWAIT_REASON_COUNT];
	uint64_t moves[COUNTERS_MOVES];
};

/* How they lie: tools/common/tally_form.h, <ipcwait/page.h>. */
struct counters_shape {
	uint64_t shards, shard_bytes;
	uint64_t kinds, kind_bytes, events;
	uint64_t reasons, reasons_at;
	uint64_t moves; /* behind the reasons */
};

/* Whoever has written it could have written anything: it lies within @bytes. */
bool counters_fit(const struct counters_shape *s, uint64_t bytes);

/* Add those in @memory, whose shape fits. */
void counters_add(struct counters *c, const struct counters_shape *s,
		  const uint64_t *memory);

/* With those of another page, less those of an earlier look. Neither settles. */
void counters_sum(struct counters *c, const struct counters *more);
void counters_subtract(struct counters *c, const struct counters *before);

/*
 * A wait leaves slept if it gives up: where it had gone to sleep before anything was counted, there
 * is one too few. It is among those that gave up.
 */
void counters_settle(struct counters *c);

/* "sem", "window_over"; NULL: there is none. */
const char *counters_kind(unsigned kind);
const char *counters_reason(unsigned reason);

/* "apart", "back". */
const char *counters_move(enum counters_move move);

/* The members of struct ipcwait_kind_stats in their order, "futex_waits". */
#define COUNTERS_EVENTS (sizeof(struct ipcwait_kind_stats) / sizeof(uint64_t))
const char *counters_event(unsigned event);
uint64_t counters_value(const struct ipcwait_kind_stats *k, unsigned event);

/* Waits that had to wait and are over. */
uint64_t counters_waits(const struct ipcwait_kind_stats *k);

bool counters_any(const struct ipcwait_kind_stats *k);

/* A table by kind, what was gained, the main reasons for sleeps, and moves. */
void counters_print(FILE *f, const struct counters *c);

/* A time with three digits or four: "12 ms". */
void counters_print_time(FILE *f, uint64_t ns);

/* "all", "kinds", "reasons" and "moves". */
void counters_write(struct json *j, const struct counters *c);

#endif
