/* SPDX-License-Identifier: MIT */
/*
 * A queue's history, sorted out for queue_check.c: which receive belongs to which send, and when
 * it was closed.
 */
#ifndef TESTS_LINEAR_QUEUE_VALUES_H
#define TESTS_LINEAR_QUEUE_VALUES_H

#include "linear/queue_check.h"

#define NEVER HISTORY_PENDING

enum queue_kind {
	IMPOSSIBLE,
	NOTHING,
	SENT, /* or may have */
	RECEIVED,
	MAY_HAVE_RECEIVED,
	CLOSED,     /* or may have */
	FOUND_OPEN, /* and full, if it is a send, or empty, if it is a receive */
	FOUND_CLOSED,
};

/* One half of what happens to a value. */
struct half {
	uint64_t call;
	uint64_t ret;
	size_t op; /* HISTORY_NONE: it did not happen, and both times are NEVER */
};

struct value {
	int64_t value;
	uint32_t sender; /* 0, unless the order is per sender */
	struct half sent, received;
};

struct queue {
	const struct history_op *ops;
	size_t n;
	const struct queue_rules *rules;
	struct value *values; /* space for n */
	size_t count;
	struct half close;   /* op: the close, or who was the first to find it closed */
	struct half drained; /* the first to find it closed and empty */
	struct queue_result result;
};

enum queue_kind queue_kind(const struct history_op *op);

/* Note a flaw. Returns false. */
bool queue_flawed(struct queue *q, enum queue_flaw flaw, size_t first, size_t second);

/* Fill in all but what stands above @values. Returns false if that shows a flaw. */
bool queue_sort_out(struct queue *q);

#endif
