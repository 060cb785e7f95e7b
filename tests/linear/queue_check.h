/* SPDX-License-Identifier: MIT */
/*
 * Is a long history of a queue or channel linearizable? For millions of operations, whose
 * values are all different.
 *
 *	struct queue_rules rules = { .capacity = 0 };
 *	struct queue_result r = queue_check(h.ops, h.count, &rules);
 *
 *	if (r.flaw)
 *		queue_print(stderr, &r, h.ops);
 *
 * With different values it is known which receive belongs to which send, and what can go
 * wrong is one of few patterns: a value from nowhere, a value twice, two values out of order,
 * or "empty" although at every instant of that operation some value was there for certain.
 * That there are no others is a theorem of Henzinger, Sezgin and Vafeiadis ("Aspect-oriented
 * linearizability proofs", CONCUR 2013). That sorting is enough to find them is an idea of
 * Lee and Mathur ("Efficient decrease-and-conquer linearizability monitoring", arXiv
 * 2410.04581); this is not their algorithm.
 *
 * Closing happens at one instant; the latest possible one excuses most. That is the first
 * return of the close, or of anything that was told that it is closed. After it nothing may
 * be called that finds it open, and no receive after the first return of "closed and empty".
 *
 * Pending operations. A pending send whose value was received has happened; any other is left
 * out. The values that were never received are given to the pending receives, those sent first
 * to those called first: no other choice excuses more.
 *
 * A value that is lost shows if one that was sent later is received, and else at the end:
 * receive until the queue is empty, and record that.
 *
 * Exact, that is, the same answer as from wing_gong.h, for spec_queue(0), and for
 * spec_queue_per_sender() if no receive is pending. Only necessary, so that all is accepted
 * that wing_gong.h accepts, and perhaps more: with a capacity, which is just counted (as
 * sem_check.h counts tokens), and per sender with pending receives, which then excuse all
 * that is missing. Not for channels without a buffer, where two operations meet.
 *
 * Cost: O(n log n) time, about 100 bytes for each operation while it runs, 250 with a capacity.
 */
#ifndef TESTS_LINEAR_QUEUE_CHECK_H
#define TESTS_LINEAR_QUEUE_CHECK_H

#include "linear/specs.h"

enum queue_flaw {
	QUEUE_SOUND,
	QUEUE_NOT_DISTINCT,   /* no flaw of the queue: the test sent a value twice */
	QUEUE_NO_SUCH_RESULT, /* no operation with this code has this argument and result */
	QUEUE_FROM_NOWHERE,   /* received, but never sent, or only later */
	QUEUE_TWICE,          /* received twice */
	QUEUE_OUT_OF_ORDER, /* two values were sent in one order and received in the other */
	QUEUE_LOST,       /* a value was never received; later ones were, or "empty" was */
	QUEUE_NOT_EMPTY,  /* "empty", but there were values all the time */
	QUEUE_NOT_FULL,   /* "full", but there was space all the time */
	QUEUE_TOO_FULL,   /* more values than the capacity */
	QUEUE_NOT_CLOSED, /* "closed", before the close was called */
	QUEUE_CLOSED_TWICE, /* the second close does not say so */
	QUEUE_STILL_OPEN,   /* accepted, "full" or "empty", after it was closed */
	QUEUE_NOT_DRAINED,  /* "closed and empty", but there was a value */
};

struct queue_rules {
	int64_t capacity; /* 0: unbounded */
	bool per_sender;  /* the order is that of each sending thread's values only */
};

struct queue_result {
	enum queue_flaw flaw;
	size_t op[2]; /* indexes of operations that show it, or HISTORY_NONE */
};

/* @ops in any order, as recorded by history.h; enum queue_code. */
struct queue_result queue_check(const struct history_op *ops, size_t n,
				const struct queue_rules *rules);

void queue_print(FILE *out, const struct queue_result *r, const struct history_op *ops);

#endif
