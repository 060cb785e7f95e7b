/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "linear/queue_values.h"

/* Note a flaw. Returns false. */
bool queue_flawed(struct queue *q, enum queue_flaw flaw, size_t first, size_t second)
{
	q->result = (struct queue_result){ flaw, { first, second } };
	return false;
}

static enum queue_kind kind_of_success(const struct history_op *op)
{
	bool pending = op->ret == HISTORY_PENDING;

	switch (op->code) {
	case QUEUE_SEND:
		return op->arg >= 0 && (pending || op->result == 0) ? SENT : IMPOSSIBLE;
	case QUEUE_RECV:
		return pending ? MAY_HAVE_RECEIVED : RECEIVED;
	case QUEUE_CLOSE:
		return pending || op->result == 0 ? CLOSED : IMPOSSIBLE;
	default:
		return IMPOSSIBLE;
	}
}

enum queue_kind queue_kind(const struct history_op *op)
{
	if (op->ret == HISTORY_PENDING || op->result >= 0 || op->code > QUEUE_CLOSE)
		return kind_of_success(op);
	if (op->code == QUEUE_CLOSE)
		return op->result == -EALREADY ? FOUND_CLOSED : IMPOSSIBLE;
	switch (op->result) {
	case -EAGAIN:
	case -ETIMEDOUT:
		return FOUND_OPEN;
	case -EPIPE:
		return FOUND_CLOSED;
	case -EINTR:
		return NOTHING;
	default:
		return IMPOSSIBLE;
	}
}

static int compare(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static int by_sent_return(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return compare(x->sent.ret, y->sent.ret);
}

static int by_call(const void *a, const void *b)
{
	const struct half *x = a, *y = b;

	return compare(x->call, y->call);
}

static bool collect_sends(struct queue *q)
{
	for (size_t i = 0; i < q->n; i++) {
		const struct history_op *op = &q->ops[i];
		enum queue_kind kind = queue_kind(op);

		if (kind == IMPOSSIBLE)
			return queue_flawed(q, QUEUE_NO_SUCH_RESULT, i, HISTORY_NONE);
		if (kind != SENT)
			continue;
		q->values[q->count++] = (struct value){
			.value = op->arg,
			.sender = q->rules->per_sender ? op->thread : 0,
			.sent = { op->call, op->ret, i },
			.received = { NEVER, NEVER, HISTORY_NONE },
		};
	}
	qsort(q->values, q->count, sizeof(*q->values), by_value);
	for (size_t k = 1; k < q->count; k++) {
		if (q->values[k].value == q->values[k - 1].value)
			return queue_flawed(q, QUEUE_NOT_DISTINCT, q->values[k - 1].sent.op,
					    q->values[k].sent.op);
	}
	return true;
}

static bool match_receives(struct queue *q)
{
	for (size_t i = 0; i < q->n; i++) {
		const struct history_op *op = &q->ops[i];
		struct value wanted = { .value = op->result };
		struct value *v;

		if (queue_kind(op) != RECEIVED)
			continue;
		v = bsearch(&wanted, q->values, q->count, sizeof(wanted), by_value);
		if (!v)
			return queue_flawed(q, QUEUE_FROM_NOWHERE, i, HISTORY_NONE);
		if (v->received.op != HISTORY_NONE)
			return queue_flawed(q, QUEUE_TWICE, v->received.op, i);
		if (op->ret < v->sent.call)
			return queue_flawed(q, QUEUE_FROM_NOWHERE, i, v->sent.op);
		v->received = (struct half){ op->call, op->ret, i };
	}
	return true;
}

/* A pending send whose value nobody received did not happen. */
static void drop_pending_sends(struct queue *q)
{
	size_t kept = 0;

	for (size_t k = 0; k < q->count; k++) {
		const struct value *v = &q->values[k];

		if (v->sent.ret != NEVER || v->received.op != HISTORY_NONE)
			q->values[kept++] = *v;
	}
	q->count = kept;
}

static size_t collect_pending_receives(const struct queue *q, struct half *receives)
{
	size_t count = 0;

	for (size_t i = 0; i < q->n; i++) {
		if (queue_kind(&q->ops[i]) == MAY_HAVE_RECEIVED)
			receives[count++] = (struct half){ q->ops[i].call, NEVER, i };
	}
	qsort(receives, count, sizeof(*receives), by_call);
	return count;
}

/* The values that are missing went to the pending receives. */
static void match_pending_receives(struct queue *q)
{
	struct half *receives = history_array(q->n, sizeof(*receives));
	size_t count = collect_pending_receives(q, receives);
	size_t next = 0;

	if (count)
		qsort(q->values, q->count, sizeof(*q->values), by_sent_return);
	for (size_t k = 0; k < q->count && next < count; k++) {
		if (q->values[k].received.op != HISTORY_NONE)
			continue;
		q->values[k].received = receives[next];
		next += !q->rules->per_sender;
	}
	free(receives);
}

/* The close that happened: of several that are pending, the first. */
static bool find_close(struct queue *q)
{
	q->close = (struct half){ NEVER, NEVER, HISTORY_NONE };
	for (size_t i = 0; i < q->n; i++) {
		const struct history_op *op = &q->ops[i];

		if (queue_kind(op) != CLOSED)
			continue;
		if (op->ret != NEVER && q->close.ret != NEVER)
			return queue_flawed(q, QUEUE_CLOSED_TWICE, q->close.op, i);
		if (op->ret != NEVER || (q->close.ret == NEVER && op->call < q->close.call))
			q->close = (struct half){ op->call, op->ret, i };
	}
	return true;
}

/* When it was closed, and when it was empty then, at the latest. */
static bool find_limits(struct queue *q)
{
	q->drained = (struct half){ NEVER, NEVER, HISTORY_NONE };
	for (size_t i = 0; i < q->n; i++) {
		const struct history_op *op = &q->ops[i];

		if (queue_kind(op) != FOUND_CLOSED)
			continue;
		if (op->ret < q->close.call)
			return queue_flawed(q, QUEUE_NOT_CLOSED, i, q->close.op);
		if (op->ret < q->close.ret)
			q->close = (struct half){ q->close.call, op->ret, i };
		if (op->code == QUEUE_RECV && op->ret < q->drained.ret)
			q->drained = (struct half){ op->call, op->ret, i };
	}
	return true;
}

/* Nothing found it open, and nothing was there, later than that. */
static bool check_limits(struct queue *q)
{
	for (size_t k = 0; k < q->count; k++) {
		const struct value *v = &q->values[k];

		if (v->sent.call > q->close.ret)
			return queue_flawed(q, QUEUE_STILL_OPEN, q->close.op, v->sent.op);
		if (v->received.call > q->drained.ret)
			return queue_flawed(q, QUEUE_NOT_DRAINED, q->drained.op,
					    v->sent.op);
	}
	for (size_t i = 0; i < q->n; i++) {
		if (queue_kind(&q->ops[i]) == FOUND_OPEN && q->ops[i].call > q->close.ret)
			return queue_flawed(q, QUEUE_STILL_OPEN, q->close.op, i);
	}
	return true;
}

bool queue_sort_out(struct queue *q)
{
	if (!collect_sends(q) || !match_receives(q))
		return false;
	drop_pending_sends(q);
	match_pending_receives(q);
	return find_close(q) && find_limits(q) && check_limits(q);
}
